import * as v from 'valibot'
import { feedQueueName, siblingQueueUrl } from '../../lib/platform/names.ts'
import { type Cloud, cloudAt } from './cloud.ts'
import type { Emulator } from './emulator.ts'
import { type Accounting, type Store, sendWebhook } from './parties.ts'
import { adoptOrders, change, must, relay, serverless } from './project.ts'
import { eventually, expect, step } from './steps.ts'
import { userWith } from './users.ts'

const STAGE = 'proof'
const STACK = `order-relay-${STAGE}`
const SOURCE = 'demo-shop'
const SECOND_SOURCE = 'فروشگاه دوم'

const createdKey = v.pipe(v.string(), v.parseJson(), v.object({ key: v.string() }))

const audit = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    balanced: v.boolean(),
    deliveries: v.object({ outcomes: v.record(v.string(), v.number()) }),
    requests: v.object({ accepted: v.number(), states: v.record(v.string(), v.number()) }),
    orders: v.object({ known: v.number(), asked: v.number(), agree: v.number() }),
    differences: v.array(v.unknown()),
  }),
)

type Outputs = Record<string, string>

/** The URL at which the emulator serves a path of the API. */
const reachable = (emulator: Emulator, outputs: Outputs, path: string) =>
  `${emulator.url}/_aws/execute-api/${outputs.HttpApiId}/$default${path}`

const takes = (cloud: Cloud, queue: string, what: string) =>
  eventually(what, 30, () => cloud.takeFromFeed(queue))

export type Environment = {
  /** The copy of the project. */
  folder: string
  emulator: Emulator
  accounting: Accounting
  /** A store with an HTTP feed, added later. */
  store: Store
}

/** The life of a deployment, step by step. */
export const testDeployment = async ({ folder, emulator, accounting, store }: Environment): Promise<void> => {
  const all = { ...emulator.environment, ACCOUNTING_URL: accounting.url }
  const cloud = cloudAt(all, STACK)
  const [deployer, operator] = await step('users with the policies of docs/iam', () =>
    Promise.all([
      userWith('deployer', { env: all, stage: STAGE }),
      userWith('operator', { env: all, stage: STAGE }),
    ]),
  )
  const at = ['--stage', STAGE]
  const deploy = (...more: string[]) =>
    must(
      'serverless deploy',
      serverless(folder, deployer, 'deploy', '--param=feedAddresses=loopback', ...at, ...more),
    )
  /** Waits until the deployed URL has accepted the service's own webhook of an order. */
  const delivered = (external_id: string) =>
    eventually(
      `the webhook of order ${external_id}, accepted by the deployed URL`,
      30,
      async () =>
        (await accounting.deliveries()).find(
          delivery => delivery.external_id === external_id && delivery.state === 'delivered',
        ),
      accounting.deliveries,
    )
  const outputsNow = async () => (await cloud.outputs()) ?? {}

  // The emulator, the service and the stores are on this machine, as they are in the stage `local`.
  await change(folder, 'deploy/settings.ts', "stage === 'local'", `stage === '${STAGE}'`)
  // The emulator has no saved queries; cfn-lint checks them.
  await change(folder, 'deploy/template.ts', '      ...queryResources(stack),\n', '')
  try {
    await step('deploy', () => deploy())

    const outputs = await step('outputs', async () => {
      const found = await outputsNow()
      const wanted = [
        'WebhookUrl',
        'ApiUrl',
        'OrdersQueueUrl',
        'OrdersDeadQueueUrl',
        'QuarantineQueueUrl',
        'DashboardUrl',
      ]
      expect(
        'missing outputs',
        wanted.filter(name => !found[name]),
        [],
      )
      expect(
        'the shared role that osls adds when a function has none',
        (await cloud.resources()).IamRoleLambdaExecution,
        undefined,
      )
      return found
    })
    const webhookUrl = reachable(emulator, outputs, '/webhook')
    const {
      OrdersQueueUrl: queue = '',
      OrdersDeadQueueUrl: dead = '',
      OrdersTableName: orders = '',
    } = outputs
    const feed = siblingQueueUrl(queue, feedQueueName(SOURCE))

    await step('key', async () => {
      await must('relay key set', relay(folder, operator, ['key', 'set', ...at], accounting.key))
    })

    const secret = await step('register', async () => {
      await must('relay register', relay(folder, operator, ['register', '--url', webhookUrl, ...at]))
      const kept = await cloud.parameters(`/order-relay/${STAGE}`)
      expect('types of the parameters', [...new Set(kept.map(({ Type }) => Type))], ['SecureString'])
      const secrets = kept.filter(({ Name }) => Name.includes('/webhook/secrets/'))
      expect('number of webhook secrets', secrets.length, 1)
      return secrets[0]?.Value ?? ''
    })

    await step('webhook', async () => {
      await accounting.bookForReview(SOURCE, '1001')
      await accounting.finalize(SOURCE, '1001')
      await delivered('1001')
      const forged = await sendWebhook(webhookUrl, 'guessed', {
        source: SOURCE,
        external_id: '1001',
        status: 'refunded',
      })
      expect('status of a forged webhook', forged.status, 401)
    })

    await step('feed', async () => {
      const { event, version, data } = await takes(
        cloud,
        feed,
        'the message of order 1001 in the feed of its store',
      )
      expect(
        'the feed message',
        { event, version, external_id: data.external_id, status: data.status },
        {
          event: 'order.updated',
          version: 1,
          external_id: '1001',
          status: 'paid',
        },
      )
    })

    await step('orders', async () => {
      const status = await eventually('the item of order 1001', 10, () =>
        cloud.statusOf(orders, SOURCE, '1001'),
      )
      expect('saved status of order 1001', status, 'paid')
    })

    await step('request of a store', async () => {
      const { key } = v.parse(
        createdKey,
        await must('relay stores key', relay(folder, operator, ['stores', 'key', SOURCE, '--json', ...at])),
      )
      const response = await fetch(reachable(emulator, outputs, '/api/v1/orders/'), {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          source: SOURCE,
          external_id: '1003',
          items: [{ sku: 'A1', quantity: 1, unit_price: 1000 }],
          customer: { mobile: '09120000000' },
        }),
      })
      expect('whether the store’s request was accepted', [201, 202].includes(response.status), true)
      const { data } = await takes(cloud, feed, 'the message of order 1003 in the feed of its store')
      expect(
        'the feed message of order 1003',
        { external_id: data.external_id, status: data.status },
        { external_id: '1003', status: 'invoiced' },
      )
    })

    await step('scheduled check', async () => {
      await must('serverless invoke', serverless(folder, all, 'invoke', '--function', 'reconcile', ...at))
      expect('errors of the check', await cloud.errorsOf('reconcile'), [])
    })

    await step('dead letter', async () => {
      const about = { source: SOURCE, external_id: '1002', status: 'needs_review' }
      await accounting.bookForReview(SOURCE, '1002')
      await sendWebhook(webhookUrl, secret, { ...about, error: 'stock' })
      expect(
        'version of the first message',
        (await takes(cloud, feed, 'the first message of order 1002')).version,
        1,
      )

      const before = await cloud.setMaxReceives(queue, 1)
      await accounting.stop()
      // Same status, other content: the worker must read the order from the service, which is down.
      await sendWebhook(webhookUrl, secret, { ...about, error: 'account' })
      await eventually(
        'the webhook of order 1002 among the dead letters',
        60,
        async () => (await cloud.waiting(dead)) === 1 || undefined,
        () => cloud.waiting(dead),
      )
      await cloud.setMaxReceives(queue, before)
    })

    await step('replay', async () => {
      await accounting.restart()
      await accounting.finalize(SOURCE, '1002')
      await must('relay dead replay', relay(folder, operator, ['dead', 'replay', '--all', ...at]))
      const { data } = await takes(cloud, feed, 'the message of order 1002 after the replay')
      expect(
        'the feed message of order 1002',
        { external_id: data.external_id, status: data.status },
        { external_id: '1002', status: 'paid' },
      )
      expect('dead letters left', await cloud.waiting(dead), 0)
      await delivered('1002')
    })

    await step('audit', async () => {
      const { deliveries, ...rest } = v.parse(
        audit,
        await must('relay audit', relay(folder, operator, ['audit', '--json', ...at])),
      )
      expect('outcomes of the deliveries', deliveries.outcomes, {
        queued: 4,
        'refused: forged, mismatch': 1,
      })
      expect('the rest of the audit', rest, {
        balanced: true,
        requests: { accepted: 1, states: { registered: 1 } },
        orders: { known: 3, asked: 3, agree: 3 },
        differences: [],
      })
    })

    await step('deploy again', async () => {
      await change(
        folder,
        'stores.yml',
        'stores:\n',
        `stores:\n  - source: ${SECOND_SOURCE}\n    feed:\n      http: ${store.url}\n`,
      )
      await deploy()
      const secretCommand = ['stores', 'secret', SECOND_SOURCE, '--stdin', ...at]
      // The store verifies with the first of them, with which messages are still signed as well.
      for (const value of [store.secret, 'next-secret-of-the-store']) {
        await must('relay stores secret', relay(folder, operator, secretCommand, value))
      }
      const answer = await sendWebhook(webhookUrl, secret, {
        source: SECOND_SOURCE,
        external_id: '1',
        status: 'paid',
      })
      expect('status of a webhook of the new store', answer.status, 200)
      const { data } = await eventually('the message of the new store’s HTTP feed', 30, async () =>
        store.received(),
      )
      expect('source of that message', data.source, SECOND_SOURCE)
      expect('saved status of order 1001', await cloud.statusOf(orders, SOURCE, '1001'), 'paid')
    })

    await step('remove', async () => {
      await must('serverless remove', serverless(folder, deployer, 'remove', ...at))
      expect('outputs of the stack', await cloud.outputs(), undefined)
      expect('queues left', await cloud.queues(), [])
      expect(
        'whether the deliveries table is left',
        await cloud.hasTable(outputs.DeliveriesTableName ?? ''),
        false,
      )
      expect('whether the orders table is left', await cloud.hasTable(orders), true)
      expect('saved status of order 1001', await cloud.statusOf(orders, SOURCE, '1001'), 'paid')
      const { status } = await sendWebhook(webhookUrl, secret, {
        source: SOURCE,
        external_id: '1',
        status: 'paid',
      })
      expect('whether the webhook URL still responds with 200', status === 200, false)
    })

    await step('deploy with the retained orders', async () => {
      await must('adopt-orders', adoptOrders(folder, deployer, ...at))
      await deploy()
      expect('saved status of order 1001', await cloud.statusOf(orders, SOURCE, '1001'), 'paid')
      expect(
        'whether the orders table belongs to the stack',
        'OrdersTable' in (await cloud.resources()),
        true,
      )
    })
  } catch (error) {
    for (const name of ['webhook', 'api', 'worker', 'feeder', 'reconcile']) {
      for (const line of await cloud.errorsOf(name)) process.stderr.write(`${line}\n`)
    }
    throw error
  } finally {
    cloud.close()
  }
}
