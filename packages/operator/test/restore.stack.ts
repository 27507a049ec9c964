import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from '@jest/globals'
import { tablesOf } from '@order-relay/deploy/tables.ts'
import { httpClient } from '@order-relay/lib/platform/http-client.ts'
import { createReconciler } from '@order-relay/lib/reconcile/handler.ts'
import { createTables } from '@order-relay/local/dynamodb.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { context, scheduledEvent } from '@order-relay/test-support/lambda.ts'
import { drain } from '@order-relay/test-support/parts.ts'
import { change, copyProject, ROOT } from '@order-relay/test-support/project.ts'
import { local, useLocalStack } from '@order-relay/test-support/relay.ts'
import { settingsWith } from '@order-relay/test-support/settings.ts'
import { recordingTelemetry } from '@order-relay/test-support/telemetry.ts'
import { until } from '@order-relay/test-support/until.ts'

// Rehearses docs/restore.md, with a copy of the table in place of AWS's point-in-time recovery.

const RESTORED = 'orders-2'
const DAY_MS = 24 * 60 * 60 * 1000

const folder = useFolder()
const project = () => folder('project')
useLocalStack({
  project: async () => {
    await copyProject(project())
    return project()
  },
})

const request = async (path: string, body: object) => (await local.store('POST', path, body)).status
const create = (external_id: string) => local.create(external_id, {}, 'relay')
const statusOf = async (external_id: string) => {
  const { out } = await local.relay(['orders', 'show', 'api', external_id])
  return /^status +(\w+)/m.exec(out)?.[1]
}
const reaches = (external_id: string, status: string) =>
  until(async () => (await statusOf(external_id)) === status)

/** The versions of each order that the store has received. */
const received = async () => {
  const versions: Record<string, number[]> = {}
  for (const { Body = '' } of await drain(local.stack().sqs, local.queue('feed-api.fifo'))) {
    const { data, version } = JSON.parse(Body)
    versions[data.external_id] = [...(versions[data.external_id] ?? []), version]
  }
  return versions
}

const restore = async () => {
  const { dynamodb } = local.stack()
  await createTables(dynamodb, tablesOf({ prefix: '', ordersTable: RESTORED }))
  const { Items = [] } = await dynamodb.scan({ TableName: 'orders', ConsistentRead: true })
  for (const Item of Items) await dynamodb.putItem({ TableName: RESTORED, Item })
}

let before: Record<string, number[]>

beforeAll(async () => {
  const finalize = (automaticFinalization: boolean) =>
    local.sandbox('PUT', '/panel/settings', { automaticFinalization })
  for (const id of ['paid-later', 'settled']) expect(await create(id)).toBe('invoiced')
  await finalize(false)
  for (const id of ['in-review', 'still-in-review']) expect(await create(id)).toBe('needs_review')

  await restore()

  // The following changes are not in the copy.
  expect(await request('paid-later/payment/', { method: 'card', reference: 'r' })).toBe(200)
  await finalize(true)
  await local.sandbox('POST', '/panel/orders/in-review/retry?source=api')
  await reaches('in-review', 'invoiced')
  expect(await create('unknown')).toBe('invoiced')
  expect(await request('still-in-review/refund/', {})).toBe(202)
  before = await received()

  await change(project(), 'serverless.yml', 'ordersTable: orders', `ordersTable: ${RESTORED}`)
  await change(
    project(),
    'serverless.yml',
    'feedVersionsFrom: 0',
    `feedVersionsFrom: ${Math.floor(Date.now() / 60_000)}`,
  )
  await local.restart()
}, 60_000)

const commandsOf = () =>
  [...readFileSync(join(ROOT, 'docs/restore.md'), 'utf8').matchAll(/`npx relay\s([^`]+)`/g)].map(
    ([, command = '']) => command.replace('<when>', '2h').replace('<source> <external_id>', 'api paid-later'),
  )

test('the stack works with the restored orders', async () => {
  expect(await statusOf('paid-later')).toBe('invoiced')
  expect(await statusOf('in-review')).toBe('needs_review')
  expect(await statusOf('unknown')).toBeUndefined()
})

test('the scheduled check finds later changes of unsettled orders', async () => {
  const { dynamodb, sqs, ssm } = local.stack()
  const reconcile = createReconciler({
    dynamodb,
    sqs,
    ssm,
    http: httpClient(),
    telemetry: recordingTelemetry().telemetry,
    settings: settingsWith(local.queue, { ordersTable: RESTORED, checksPerSecond: '10' }),
    sleep,
    // Advance to the time when the checks are due.
    now: () => Date.now() + DAY_MS,
    random: Math.random,
  })
  await reconcile(scheduledEvent, context())
  await reaches('in-review', 'invoiced')
})

test('the audit finds and repairs the other orders, and reports the lost request', async () => {
  const [repair = '', audit = '', show = '', erasures = ''] = commandsOf()
  const repaired = await local.relay(repair.split(' '))
  expect(repaired.code).toBe(1)
  expect(repaired.out).toContain('api paid-later: order is "invoiced" here and "paid" at the service')
  expect(repaired.out).toContain('api unknown: order is unknown here and "invoiced" at the service')
  expect(repaired.out).not.toMatch(/(in-review|settled): order/)
  expect(repaired.out).toContain('The worker reads 2 orders from the service')
  await reaches('paid-later', 'paid')
  await reaches('unknown', 'invoiced')

  const { code, out } = await local.relay(audit.split(' '))
  expect(code).toBe(1)
  expect(out).toMatch(/5 of 5 agree with the service/)
  expect(out).toMatch(/still-in-review: refund request was processed but is not stored with its order/)
  expect((await local.relay(show.split(' '))).out).toMatch(/^status +paid$/m)
  expect((await local.relay(erasures.split(' '))).code).toBe(0)
  expect(commandsOf()).toHaveLength(4)
})

test('stores receive the repaired orders with higher versions than before', async () => {
  const after = await received()
  expect(Object.keys(after).sort()).toEqual(['in-review', 'paid-later', 'unknown'])
  for (const [external_id, versions] of Object.entries(after))
    expect(Math.min(...versions)).toBeGreaterThan(Math.max(1000, ...(before[external_id] ?? [])))
})
