import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { answerCalls, callsOf, grantedBySid, matches, quoted } from '@order-relay/test-support/calls.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { copyProject, ROOT } from '@order-relay/test-support/project.ts'
import { local, relay, startRelay, useLocalStack } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'
import * as v from 'valibot'
import { simulated } from '../../../test/deploy/template/permissions/simulate.ts'
import { policyDocument } from '../../../test/deploy/template/resolve.ts'
import { READ_ONLY } from '../fake/http.ts'
import { type FakeShop, startFakeShop } from '../fake/shop.ts'
import { namesOf } from '../lib/names.ts'
import { META_KEY } from '../lib/shop.ts'
import { startConnector } from '../local.ts'

const COMMANDS = ['check', 'connect', 'list', 'done', 'import', 'disconnect'] as const

const SOURCE = 'woo'
const PAST = 300
const ITEM = { sku: 'SKU-1', total: '100000', total_tax: '10000' }

let shop: FakeShop
/** The orders created before the connection. */
const ids: number[] = []
/** How far the shop's clock is behind, in milliseconds. */
let age = 0
let connector: Awaited<ReturnType<typeof startConnector>>
let environment: Record<string, string>
let connection: { Value?: string | undefined } | undefined
const visits = setInterval(() => void shop?.visit(), 200)
const before = process.env

// Before the stack is stopped.
afterAll(async () => {
  clearInterval(visits)
  await connector?.close()
  await shop?.close()
  process.env = before
})

/** A copy of the project with a store that the connector can be connected to. */
const folder = useFolder()
useLocalStack({
  project: async () => {
    const project = folder('project')
    await copyProject(project)
    await appendFile(join(project, 'stores.yml'), `  - { source: ${SOURCE}, feed: http }\n`)
    return project
  },
})

beforeAll(async () => {
  shop = await startFakeShop({ now: () => new Date(Date.now() - age) })
  const { ports, dataDir } = local.stack()
  process.env.POWERTOOLS_LOG_LEVEL = 'SILENT'
  connector = await startConnector({ ports, dataDir, port: 0, pollSeconds: 600 })
  environment = { WOO_PORT: new URL(connector.url).port, WOO_KEY: `${shop.key}:${shop.secret}` }
  await local.sandbox('PUT', '/panel/settings', { pricesIncludeTax: true, taxRate: 10 })
  await local.sandbox('PUT', '/panel/products/SKU-1', { stock: 10_000 })
}, 60_000)

const woo = (...args: string[]) => local.relay(['woo', ...args], { environment })
const metaOf = (id: number) => {
  const value = shop.order(id).meta_data.find(({ key }) => key === META_KEY)?.value
  return value === undefined ? undefined : JSON.parse(String(value))
}
const parameters = async () => {
  const { path } = namesOf('local')
  const { Parameters = [] } = await local
    .stack()
    .ssm.getParametersByPath({ Path: path, WithDecryption: true })
  return Parameters
}
/** Events of orders that are queued, or being handled. */
const waiting = async () => {
  const { sqs } = local.stack()
  const { Attributes = {} } = await sqs.getQueueAttributes({
    QueueUrl: local.queue(namesOf('local').queue),
    AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
  })
  return Object.values(Attributes).reduce((sum, each) => sum + Number(each), 0)
}
/** The stores' keys that the connector uses; the local stack has others. */
const keysOf = async () =>
  (await local.json(['stores', 'show', SOURCE])).data.keys.filter(
    ({ name }: { name?: string }) => name === 'woocommerce',
  )
const connect = (settings: string, more: Record<string, string> = {}) =>
  local.relay(['woo', 'connect', SOURCE, '--shop', shop.url, '--settings', settings], {
    environment: { ...environment, ...more },
  })

test('the connector refuses to start without the local stack', async () => {
  const { ports } = local.stack()
  await expect(startConnector({ ports, dataDir: folder('nowhere'), port: 0 })).rejects.toThrow(
    'Cannot start the connector: the local stack has never run',
  )
})

describe('a shop', () => {
  test('is checked: the command writes the report and the settings for connect, and nothing to the shop', async () => {
    age = 600_000
    for (let index = 0; index < PAST; index++) ids.push(shop.create({ items: [ITEM] }).id)
    age = 0
    const { code, out } = await woo(
      'check',
      shop.url,
      '--accounting',
      local.stack().urls.sandbox,
      '--save',
      folder('shop.yml'),
      '--page',
      folder('report.html'),
      '--language',
      'fa',
    )
    expect(code).toBe(0)
    expect(out).toContain('فروشگاه آمادهٔ اتصال است.')
    expect(await readFile(folder('report.html'), 'utf8')).toContain('dir="rtl"')
    expect(shop.webhooks.list()).toEqual([])
  })

  test('is not connected with a read-only key, and nothing is left behind', async () => {
    const { code, err } = await connect(folder('shop.yml'), {
      WOO_KEY: `${READ_ONLY.key}:${READ_ONLY.secret}`,
    })
    expect([code, err]).toEqual([1, expect.stringContaining("give the shop's key the permission Read/Write")])
    expect([shop.webhooks.list(), await parameters(), await keysOf()]).toEqual([[], [], []])
    expect((await woo('list')).out).toBe('No shop is connected.\n')
  })

  test('is not connected while the connector does not run, which leaves nothing behind', async () => {
    const { code, err } = await connect(folder('shop.yml'), { WOO_PORT: '1' })
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('does not answer; start it: npx relay woo start'),
    ])
    expect([shop.webhooks.list(), await parameters(), await keysOf()]).toEqual([[], [], []])
  })

  test('is connected, and connected again: four webhooks, a key, the feed and one parameter', async () => {
    for (let time = 0; time < 2; time++) {
      const { code, out, err } = await connect(folder('shop.yml'))
      expect([code, err]).toEqual([0, ''])
      expect(out).toContain(`Connected ${shop.url} as "${SOURCE}": 4 webhooks`)
    }
    expect(shop.webhooks.list().map(({ status }) => status)).toEqual(Array(4).fill('active'))
    expect([(await parameters()).length, (await keysOf()).length]).toEqual([1, 1])
    ;[connection] = await parameters()
    const { out: findings } = await local.relay(['doctor'], { environment })
    expect(findings).toContain(shop.url)
    // The first poll is due within two minutes.
    expect(findings).not.toContain('should read it every two minutes')
    const { code, out } = await woo('list')
    // The test webhook has reached the function that synchronizes.
    const row = new RegExp(`^${SOURCE} +${shop.url} +4 +\\S+ +\\d{4}-`, 'm')
    expect([code, out]).toEqual([0, expect.stringMatching(row)])
  })

  test('sends a new order and shows its invoice', async () => {
    const { id } = shop.create({ items: [ITEM] })
    await until(() => shop.notes(id).length > 0)
    expect([metaOf(id)?.status, shop.notes(id).length]).toEqual(['paid', 1])
  })

  test('lists an order that needs attention until it is marked as done', async () => {
    const { id } = shop.create({ items: [{ ...ITEM, sku: null, name: 'Hat' }] })
    await until(async () => (await woo('list')).code === 1)
    expect((await woo('list')).out).toContain('A product has no SKU (Hat). Enter its code')
    expect(await woo('done', SOURCE, String(id))).toMatchObject({ code: 0 })
    expect(await woo('list')).toMatchObject({ code: 0 })
    expect((await woo('done', SOURCE, String(id))).err).toContain('it needs no attention')
  })

  test(`imports ${PAST} past orders exactly once, even if the command is killed`, async () => {
    const args = ['woo', 'import', SOURCE, '--since', '1d', '--local']
    // The shop filters by whole seconds, and the period excludes the current one.
    await sleep(1000)
    const plan = `${PAST + 2} orders read: ${PAST} to send, 0 that only get a note, 2 up to date or without an invoice.\n`
    expect((await woo('import', SOURCE, '--since', '1d', '--dry-run')).out).toBe(plan)
    expect(metaOf(ids[0] ?? 0)).toBeUndefined()

    const { child, ended, printed } = startRelay(args, { ...local.stack().environment, ...environment })
    await printed(/to send/)
    await until(async () => (await waiting()) > 0)
    child.kill('SIGKILL')
    const { signal, err } = await ended
    expect([signal, err]).toEqual(['SIGKILL', plan])
    await until(async () => (await waiting()) === 0, 150_000)

    const { code, out, err: shown } = await local.relay(args.slice(0, -1), { environment, isTerminal: true })
    // Some were sent, but have no note yet.
    const [left = 0, noted = 0] =
      shown.match(/\d+ to send, (\d+)/)?.map(found => Number.parseInt(found, 10)) ?? []
    expect([code, left > 0 && left < PAST]).toEqual([0, true])
    const queued = left + noted
    expect(out).toContain(`${queued} orders queued.\n`)
    expect(shown).toContain(`Orders queued: ${queued} of ${queued}`)

    await until(async () => ids.every(id => metaOf(id)?.status === 'paid'), 200_000)
    const numbers = ids.map(id => metaOf(id).invoice_number).toSorted((a, b) => a - b)
    // The new order has the first invoice, and invoices are numbered consecutively.
    expect(numbers).toEqual(Array.from({ length: PAST }, (_, index) => index + 2))
    await until(async () => (await woo('import', SOURCE, '--since', '1d')).err.includes(' 0 to send, 0 '))
    expect(ids.filter(id => shop.notes(id).length !== 1)).toEqual([])
  }, 300_000)

  test('is disconnected: everything that connect created is removed, and the output lists what remains', async () => {
    // The address of the connector has changed since.
    environment.WOO_PORT = '1'
    const { code, out } = await woo('disconnect', SOURCE)
    expect([code, out]).toEqual([0, expect.stringMatching(/^Disconnected "woo"\.\nKept: invoices, /)])
    expect([shop.webhooks.list(), await parameters(), await keysOf()]).toEqual([[], [], []])
    expect((await local.relay(['stores', 'list'])).out).toMatch(
      new RegExp(`${SOURCE} +http \\(not registered\\)`),
    )
    expect((await woo('disconnect', SOURCE)).err).toContain('it is not connected')
    expect((await woo('list')).out).toBe('No shop is connected.\n')
  })
})

describe('the rights of an operator', () => {
  let own: Map<string, string[]>
  let operator: readonly string[]

  beforeAll(async () => {
    own = await grantedBySid('woocommerce')
    operator = [...(await grantedBySid()).values()].flat()
    // On AWS, the endpoint is an output of the connector's stack.
    const stack = { Outputs: [{ OutputKey: 'Endpoint', OutputValue: connector.url }] }
    answerCalls(action =>
      action === 'DescribeStacks'
        ? { Stacks: [stack] }
        : action === 'GetParameter'
          ? { Parameter: connection }
          : {},
    )
    const options = ['--shop', shop.url, '--settings', folder('shop.yml')]
    await relay(['woo', 'connect', SOURCE, ...options], { environment })
    await relay(['woo', 'disconnect', SOURCE])
    answerCalls(undefined)
  })

  test('docs/iam/woocommerce.json and operator.json together allow exactly the calls of the commands', () => {
    const calls = COMMANDS.flatMap(command => [...callsOf('woo', command)])
    const granted = [...own.values()].flat()
    expect(calls.filter(call => ![...granted, ...operator].some(each => matches(each, call)))).toEqual([])
    expect(granted.filter(each => !calls.some(call => matches(each, call)))).toEqual([])
    // The relay's own policy grants no access to connected shops.
    expect(operator.filter(each => /woocommerce/.test(each))).toEqual([])
  })

  test('IAM allows these calls in their own stage only', async () => {
    const document = v.parse(
      policyDocument,
      JSON.parse(
        (await readFile(join(ROOT, 'docs/iam/woocommerce.json'), 'utf8'))
          .replaceAll('REGION', 'eu-central-1')
          .replaceAll('ACCOUNT', '123456789012'),
      ),
    )
    const calls = new Set(COMMANDS.flatMap(command => [...callsOf('woo', command)]))
    for (const call of calls) {
      if (!call.includes('woocommerce')) continue
      const [action = '', resource = ''] = call
        .replace('REGION', 'eu-central-1')
        .replace('ACCOUNT', '123456789012')
        .split(' ')
      const asked = { action, resource, context: {} }
      expect([call, await simulated(document, asked)]).toEqual([call, true])
      const other = { ...asked, resource: resource.replace('STAGE', 'STAGE-eu') }
      expect([call, await simulated(document, other)]).toEqual([call, false])
    }
  })

  test('the README names the statements that each command needs', async () => {
    const readme = await readFile(join(ROOT, 'connectors/woocommerce/README.md'), 'utf8')
    const rows = readme.match(/^\| `relay woo .*\|$/gm) ?? []
    const needed = new Map(
      rows.flatMap(row => {
        const [, commands, statements] = row.split('|')
        return quoted(commands).map(command => [command, quoted(statements)] as const)
      }),
    )
    expect([...needed.keys()].toSorted()).toEqual(COMMANDS.map(command => `relay woo ${command}`).toSorted())
    const missing = COMMANDS.flatMap(command => {
      const allowed = needed.get(`relay woo ${command}`)?.flatMap(sid => own.get(sid) ?? []) ?? []
      return [...callsOf('woo', command)].filter(
        call => call.includes('woocommerce') && !allowed.some(each => matches(each, call)),
      )
    })
    expect(missing).toEqual([])
    expect(new Set([...needed.values()].flat())).toEqual(new Set(own.keys()))
  })
})
