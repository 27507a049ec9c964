import { randomUUID } from 'node:crypto'
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DeleteTableCommand, waitUntilTableNotExists } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { tablesOf } from '@order-relay/deploy/tables.ts'
import { newOrder } from '@order-relay/lib/orders/order.ts'
import { orderRepository } from '@order-relay/lib/orders/repository.ts'
import { createTables } from '@order-relay/local/dynamodb.ts'
import { logFile } from '@order-relay/local/log.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { change, copyProject, ROOT } from '@order-relay/test-support/project.ts'
import { local, useLocalStack } from '@order-relay/test-support/relay.ts'
import { startServer } from '@order-relay/test-support/server.ts'
import { until } from '@order-relay/test-support/until.ts'

const RUNBOOK = join(ROOT, 'docs/runbook')
/** A store with an HTTP feed, which the project's stores.yml lacks. */
const WEB = 'web-shop'

/** The response of the store's endpoint. */
let answer = 500
let endpoint: Awaited<ReturnType<typeof startServer>>

const folder = useFolder()
const prepareProject = async () => {
  endpoint = await startServer(async () => ({ status: answer }))
  const project = folder('project')
  await copyProject(project)
  // The webhook function's interval of reading new secrets after an unknown signature.
  const interval = 'REFRESH_INTERVAL_MS = '
  await change(project, 'lib/platform/parameters.ts', `${interval}60_000`, `${interval}2_000`)
  const stores = [
    { source: 'api', feed: 'sqs' },
    { source: WEB, feed: { http: `http://127.0.0.1:${endpoint.port}` } },
  ]
  await writeFile(join(project, 'stores.yml'), JSON.stringify({ stores }))
  return project
}
useLocalStack({ project: prepareProject })
afterAll(() => endpoint.close())

const log = () => readFileSync(logFile(local.stack().dataDir), 'utf8')
const logged = (...parts: string[]) =>
  until(async () =>
    log()
      .split('\n')
      .some(line => parts.every(part => line.includes(part))),
  )

/** An event that waits for the service is retried after the test. */
const DOWN = { kind: 'error', status: 503, retryAfter: 3600 }

/** Runs with a missing table, as after a manual change of the stack. */
const withoutTable = async (TableName: string, run: () => Promise<unknown>) => {
  const { dynamodb } = local.stack()
  await dynamodb.send(new DeleteTableCommand({ TableName }))
  const quickly = { client: dynamodb, maxWaitTime: 30, minDelay: 0.05, maxDelay: 0.2 }
  await waitUntilTableNotExists(quickly, { TableName })
  await run()
  const tables = tablesOf({ prefix: '' }).filter(({ name }) => name === TableName)
  await createTables(dynamodb, tables)
}

/** A line written by Lambda itself, which the local stack cannot produce. */
const lambdaWrites = async (line: object) =>
  appendFileSync(logFile(local.stack().dataDir), `${JSON.stringify(line)}\n`)

/** Values of the placeholders in a page's commands, fixed or set by a preparation. */
const values = { source: WEB, external_id: '', request: 'create', id: '', file: '' }
type Expected = { prints: RegExp; before?: () => Promise<unknown>; input?: string; code?: number }

/** Options that make a command end sooner with the same output. */
const SHORTER: Readonly<Record<string, readonly string[]>> = {
  tail: ['--no-follow'],
  imports: ['--for', '1s'],
}

const ERRORS_30M = 'tail --since 30m --errors'

const REPLAYED = /^Replayed 1 message\.\n$/
const DISCARDED = /^Discarded 1 message\.\n$/
/** A second secret within a day requires the name of the store. */
const NEW_SECRET = { input: '<source>', prints: /^whsec_\S{44}\n/ }
const WAITING = /web-shop {2}http:\S+ +feed-web-shop\.fifo +[1-9]/

/** Adds a message to a queue, to be discarded by the command. */
const discarded = (queue: string, event: string, source: string, prints: RegExp): Expected => ({
  before: async () => {
    values.id = await local.enqueue(queue, event, { source, external_id: 'gone' })
  },
  input: '<id>',
  prints,
})

const sendToWeb = (external_id: string) =>
  local.relay(['send', '--external-id', external_id, '--source', WEB])

const serviceReturns = () => local.sandbox('DELETE', '/panel/faults')

/** An order whose refund waits for the service, which is down. */
const refundWaits = (external_id: string) => async () => {
  await serviceReturns()
  await local.create(external_id)
  await local.sandbox('POST', '/panel/faults', DOWN)
  const { status } = await local.store('POST', `${external_id}/refund/`, {}, 'respond-async')
  expect(status).toBe(202)
  await logged('event retried', external_id)
  values.external_id = external_id
}

/** A payment among the dead letters, whose order has a refund that waits for a retry. */
const paymentIsDead = async (external_id: string) => {
  await refundWaits(external_id)()
  await serviceReturns()
  const body = JSON.stringify({ method: 'card', reference: 'r' })
  await local.enqueue('orders-dead.fifo', 'order.payment', { external_id, body, accepted_at: Date.now() })
}

const readFails = () =>
  withoutTable('orders', async () => {
    expect((await local.store('GET', 'unread/')).status).toBe(503)
  })

/** A message that the store refuses or, before it has a secret, that the relay cannot sign. */
const messageFails = async (external_id: string) => {
  await sendToWeb(external_id)
  await logged('feed message retried', external_id)
}

const storeRefuses = async (external_id: string) => {
  await local.relay(['stores', 'secret', WEB], { input: WEB })
  await messageFails(external_id)
}

/** The situation of each page, and the expected output of its commands. Each one also occurs without the others. */
const PAGES: Readonly<
  Record<
    string,
    { source?: string; situation?: () => Promise<unknown>; commands: Record<string, RegExp | Expected> }
  >
> = {
  'breaker-open': {
    situation: refundWaits('refunded'),
    commands: {
      doctor: /!! {4}the accounting service is unavailable: .*: 503 /,
      'orders list --failing': /api +refunded +\S+ +.*refund waiting .*The accounting service answered 503/,
      [ERRORS_30M]:
        /ERROR event retried .*source=api external_id=refunded .*The accounting service answered 503/,
      'orders retry --all': {
        before: serviceReturns,
        prints: /^Failing events released: 1\. .* No longer waiting: 0\. Succeeded: 1\.\n$/,
      },
    },
  },
  'order-stuck': {
    source: 'api',
    situation: refundWaits('stuck'),
    commands: {
      'orders list --failing': /api +stuck +\S+ +.*refund waiting/,
      'orders show <source> <external_id>':
        /^order\.refund has been waiting for the accounting service since .*: The accounting service answered 503; next attempt by/m,
      'tail --since 1h --errors':
        /ERROR event retried delivery=\S+ source=api external_id=stuck .*error=AccountingError/,
      'orders retry <source> <external_id>': {
        before: serviceReturns,
        prints: /^Retried: the refund is registered; see relay orders show api stuck --local\n$/,
      },
    },
  },
  'dead-letters': {
    source: 'api',
    situation: async () => {
      await paymentIsDead('replayed')
      values.file = folder('plan.json')
    },
    commands: {
      'dead groups': / 1 +\S+Z +\S+Z +order queue: order\.payment of api\n/,
      'dead list': /order queue {2}api +replayed +order\.payment/,
      'tail --since 2d --errors --order <external_id>':
        /ERROR event retried .*The accounting service answered 503/,
      'dead replay --all --plan <file>':
        /POST payment: expected status "paid"\n.*POST refund: .*\n.*status: \S+ → refunded[\s\S]*1 payment call /,
      'dead replay --from <file>': REPLAYED,
      'dead discard --done': {
        before: async () => {
          const { result } = (await local.json(['orders', 'show', 'api', 'replayed'])).data
          await local.enqueue('orders-dead.fifo', 'order.updated', result)
        },
        input: 'done 1',
        prints: DISCARDED,
      },
      'dead discard <id>': discarded(
        'orders-dead.fifo',
        ...(['order.check', 'api'] as const),
        /^Discarded 1 message\.\n\S+ {2}Nothing is lost once a check has read the order/,
      ),
      'orders withdraw <source> <external_id> <request>': {
        before: async () => {
          values.external_id = 'refused'
          const items = [{ sku: 'sold by nobody', quantity: 1, unit_price: 1 }]
          expect((await local.store('POST', '', { external_id: 'refused', items })).status).toBe(400)
        },
        input: '<external_id>',
        prints: /withdraw/i,
      },
      'dead history': /discard .* 1 discarded[\s\S]*replay .*all 1 .*1 replayed/,
    },
  },
  'service-unauthorized': {
    situation: () => local.relay(['key', 'set', '--no-check'], { input: 'revoked' }),
    commands: {
      doctor: /!! {4}the accounting service refuses the API key: .*401/,
      'key set': { input: 'sandbox-key', prints: /accepts it, with the scope orders\.write/ },
      'orders retry --all': /^Failing events released: \d+\. Orders with refused requests checked: \d+/,
    },
  },
  'deliveries-failed': {
    situation: () =>
      withoutTable('deliveries', async () => {
        expect((await local.relay(['send', '--external-id', 'lost'])).out).toMatch(/^503/)
      }),
    commands: {
      [ERRORS_30M]:
        /ERROR delivery failed delivery=\S+ source=api external_id=lost error=ResourceNotFoundException/,
      doctor: /ok {2}the relay accepts webhooks signed with its secret/,
    },
  },
  'requests-failed': {
    situation: readFails,
    commands: {
      [ERRORS_30M]: /ERROR request failed source=api external_id=unread error=ResourceNotFoundException/,
    },
  },
  'endpoint-latency': { situation: readFails, commands: { [ERRORS_30M]: /ERROR/ } },
  'endpoint-errors': {
    situation: readFails,
    commands: { [ERRORS_30M]: /ERROR (delivery|request) failed/ },
  },
  'feeder-errors': {
    situation: () => messageFails('w-1'),
    commands: {
      [ERRORS_30M]: /ERROR feed message retried .*external_id=w-1 .*Cannot sign for the store "web-shop"/,
      'stores secret <source>': NEW_SECRET,
    },
  },
  'feed-stuck': {
    situation: () => storeRefuses('w-2'),
    commands: {
      'tail --since 2h --errors --source <source>': /ERROR feed message retried .*external_id=w-2/,
      'stores list': WAITING,
    },
  },
  'feed-disabled': {
    situation: () => storeRefuses('w-4'),
    commands: {
      'tail --since 2d --errors --source <source>': /ERROR feed message retried .*source=web-shop/,
      'stores test <source>': {
        code: 1,
        prints:
          /^Cannot deliver to the store: it answered (5\d\d) \(http:\S+, \d+ ms\)\nResponse: \1\n\n\{\}\nRemedy: find the error in the output of the store; .*\n$/,
      },
      'stores list': WAITING,
      'stores secret <source>': NEW_SECRET,
    },
  },
  'feed-dead-letters': {
    situation: async () => {
      answer = 200
      await local.enqueue('feeds-dead.fifo', 'order.updated', { source: WEB, external_id: 'w-3' })
    },
    commands: {
      'dead list': /feed +web-shop +w-3/,
      'dead replay --source <source>': REPLAYED,
      'dead discard <id>': discarded(
        'feeds-dead.fifo',
        ...(['order.updated', WEB] as const),
        /^Discarded 1 message\.\n\S+ {2}The store does not receive this message\./,
      ),
      'stores resend <source> --since 30d': /\d+ orders?/,
    },
  },
  'feed-age': {
    situation: async () => {
      await local.relay(['send', '--external-id', 'unread'])
      await logged('event processed', '"unread"')
    },
    commands: { 'stores list': /api {2,}sqs +feed-api\.fifo +[1-9]/ },
  },
  quarantine: {
    situation: async () => {
      const sent = await local.relay(['send', '--file', join(ROOT, 'package.json')])
      expect(sent).toMatchObject({ code: 1, out: expect.stringMatching(/^400 .*unreadable/) })
      values.id = (await local.json(['quarantine', 'list'])).data.entries[0].id
    },
    commands: {
      'quarantine groups': /^GROUP .*\n\S+ +1 .* webhook: Field "event"/,
      'quarantine list': /webhook .* no +Field "event"/,
      'quarantine show <id>': /"name": "order-relay"/,
      'find <id>': /^In quarantine: relay quarantine show \S+ --local\n$/,
      'quarantine replay --all': { code: 1, prints: /kept: still unreadable/ },
      'quarantine replay <id>': {
        before: async () => {
          const delivery = randomUUID()
          const data = { source: 'api', external_id: 'q', status: 'paid' }
          await local.quarantine('webhook', JSON.stringify({ event: 'order.updated', delivery, data }))
          values.id = delivery
        },
        prints: REPLAYED,
      },
      'quarantine discard <id>': { input: '<id>', prints: DISCARDED },
    },
  },
  'reconcile-errors': {
    situation: () =>
      lambdaWrites({
        timestamp: new Date().toISOString(),
        level: 'ERROR',
        requestId: randomUUID(),
        message: { errorType: 'AccessDeniedException', errorMessage: 'not authorized', stackTrace: [] },
      }),
    commands: { [ERRORS_30M]: /ERROR function failed .*AccessDeniedException: not authorized/ },
  },
  'probe-missing': {
    situation: () =>
      lambdaWrites({
        timestamp: new Date().toISOString(),
        level: 'ERROR',
        requestId: randomUUID(),
        message: { errorType: 'Error', errorMessage: 'Cannot probe the relay', stackTrace: [] },
      }),
    commands: { [ERRORS_30M]: /ERROR function failed .*Error: Cannot probe the relay/ },
  },
  'worker-errors': {
    situation: () =>
      lambdaWrites({
        time: new Date().toISOString(),
        type: 'platform.report',
        record: { requestId: randomUUID(), status: 'timeout', metrics: { durationMs: 30_000 } },
      }),
    commands: { [ERRORS_30M]: /ERROR invocation ended with timeout/ },
  },
  'signature-failures': {
    situation: () => paymentIsDead('audited'),
    commands: {
      doctor: /ok {2}the relay accepts webhooks signed with its secret/,
      'deliveries list --since 1h': /refused +not signed with a known secret/,
      'tail --since 30m': /delivery received outcome=forged why=mismatch/,
      'register --again': /The relay accepts webhooks signed with it\.\nRetired: sandbox\./,
      // The audit exits with 1, since an order has a dead letter.
      'audit --since 24h --repair': { code: 1, prints: /\d deliver(?:y|ies) received/ },
    },
  },
  'queue-age': {
    situation: async () => {
      const orders = orderRepository(local.stack().dynamodb, 'orders', { random: Math.random })
      const imported = newOrder({ source: 'api', external_id: 'imported' })
      await orders.save({ order: imported, outbox: undefined, bulk: randomUUID() }, 0, Date.now())
    },
    commands: {
      status: /^orders +\d+ +\d+[\s\S]*^processed +\d+/m,
      imports: /^SOURCE +ORDERS +PER SECOND +DONE IN\napi +1 +0 +-\n0 events in the bulk queue\n$/,
    },
  },
}

beforeAll(async () => {
  const environment = { RELAY_WEBHOOK_SECRET: 'wrong' }
  const forged = await local.relay(['send', '--external-id', 'f'], { environment })
  expect(forged.out).toMatch(/^401/)
})

/** The commands of a page, without `npx relay`. */
const commandsOf = (page: string): string[] => {
  const found = readFileSync(join(RUNBOOK, `${page}.md`), 'utf8').matchAll(/`npx relay\s([^`]+)`/g)
  return [...new Set([...found].map(([, command = '']) => command.replaceAll(/\s+/g, ' ')))]
}

test('every page with commands has a scenario', () => {
  const pages = readdirSync(RUNBOOK).map(name => name.replace('.md', ''))
  expect(pages.filter(page => commandsOf(page).length > 0)).toEqual(Object.keys(PAGES).sort())
})

test.each(Object.entries(PAGES))(
  '%s: every command prints the output shown on the page',
  async (page, about) => {
    const { source = WEB, situation, commands } = about
    expect(commandsOf(page).sort()).toEqual(Object.keys(commands).sort())
    values.source = source
    await situation?.()
    for (const [command, expected] of Object.entries(commands)) {
      const step: Expected = expected instanceof RegExp ? { prints: expected } : expected
      const { before, prints, input = '', code = 0 } = step
      const former = { ...values }
      await before?.()
      const filled = (text: string) =>
        text.replaceAll(/<(\w+)>/g, (_, name: keyof typeof values) => values[name] ?? '')
      const [name = '', ...rest] = filled(command).split(' ')
      const args = [name, ...rest, ...(SHORTER[name] ?? [])]
      const ran = await local.relay(args, { input: filled(input) })
      expect(ran.out + ran.err).toMatch(prints)
      // They fail because of other scenarios.
      if (!['doctor', 'status'].includes(command)) expect([command, ran.code]).toEqual([command, code])
      Object.assign(values, former)
    }
  },
)

test('processes a replayed dead letter before a later event of the order that is waiting for a retry', async () => {
  // If the refund had been processed first, the payment would have been refused.
  await paymentIsDead('paid')
  expect((await local.relay(['dead', 'replay', '--order', 'paid'])).out).toMatch(REPLAYED)
  await until(async () => (await local.order('paid')).status === 'refunded')
  expect(await local.order('paid')).toMatchObject({ receipt_number: expect.any(Number) })
})

test('the stack trace of an error names the source file', async () => {
  await refundWaits('traced')()
  const { out } = await local.relay(['tail', '--no-follow', '--since', '1h', '--errors', '--verbose'])
  expect(out).toMatch(/^ +at \S.* \(\S+\/lib\/accounting\/client\.ts:\d+:\d+\)$/m)
})
