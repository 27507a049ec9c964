import * as v from 'valibot'
import type { Accounting } from './accountant.ts'
import { type Cloud, cloudAt } from './cloud.ts'
import type { Emulator } from './emulator.ts'
import { adoptOrders, change, must, relay, serverless } from './project.ts'
import { eventually, expect, step } from './steps.ts'
import type { Store } from './store.ts'
import { sendWebhook } from './webhook.ts'

const STAGE = 'proof'
const STACK = `order-relay-${STAGE}`
const SOURCE = 'demo-shop'

const madeKey = v.pipe(v.string(), v.parseJson(), v.object({ key: v.string() }))

const receipt = v.pipe(
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

/** The address of an output, as the emulator answers for it without a name server. */
const reachable = (emulator: Emulator, outputs: Outputs, path: string) =>
  `${emulator.url}/_aws/execute-api/${outputs.HttpApiId}/$default${path}`

const feedUrl = (outputs: Outputs, source: string) =>
  outputs[`Feed${Buffer.from(source).toString('hex')}Url`] ?? ''

const takes = (cloud: Cloud, queue: string, what: string) =>
  eventually(what, 30, () => cloud.takeFromFeed(queue))

export type World = {
  /** Where the copy of the project is. */
  folder: string
  emulator: Emulator
  accounting: Accounting
  /** A store that is told by HTTP, and comes later. */
  store: Store
}

/** The whole life of a deployment, step by step; every step says what it expected and what it found. */
export const proveDeployment = async ({ folder, emulator, accounting, store }: World): Promise<void> => {
  const env = { ...emulator.environment, ACCOUNTING_URL: accounting.url }
  const cloud = cloudAt(env, STACK)
  const at = ['--stage', STAGE]
  const deploy = (...more: string[]) =>
    must('serverless deploy', serverless(folder, env, 'deploy', ...at, ...more))
  const outputsNow = async () => (await cloud.outputs()) ?? {}

  try {
    await step('deploy', () => deploy())

    const outputs = await step('outputs', async () => {
      const found = await outputsNow()
      const wanted = [
        'WebhookUrl',
        'ApiUrl',
        'OrderLineUrl',
        'DeadLettersUrl',
        'QuarantineUrl',
        'DashboardUrl',
      ]
      expect(
        'outputs that are missing',
        wanted.filter(name => !found[name]),
        [],
      )
      expect(
        'the shared role that osls makes when a function has none',
        (await cloud.resources()).IamRoleLambdaExecution,
        undefined,
      )
      return found
    })
    const webhookUrl = reachable(emulator, outputs, '/webhook')
    const feed = feedUrl(outputs, SOURCE)
    const { OrderLineUrl: line = '', DeadLettersUrl: dead = '', OrdersTableName: orders = '' } = outputs

    await step('key', async () => {
      await must('relay key set', relay(folder, env, ['key', 'set', ...at], accounting.key))
    })

    const secret = await step('register', async () => {
      await must('relay register', relay(folder, env, ['register', '--url', webhookUrl, ...at]))
      const kept = await cloud.parameters(`/order-relay/${STAGE}`)
      expect(
        'kinds of what is kept in Parameter Store',
        [...new Set(kept.map(({ Type }) => Type))],
        ['SecureString'],
      )
      const secrets = kept.filter(({ Name }) => Name.includes('/webhook-secrets/'))
      expect('number of webhook secrets', secrets.length, 1)
      return secrets[0]?.Value ?? ''
    })

    await step('webhook', async () => {
      await accounting.bookForReview(SOURCE, '1001')
      await accounting.finalize(SOURCE, '1001')
      const delivered = async () =>
        (await accounting.deliveries()).map(({ external_id, state }) => ({ external_id, state }))
      await eventually(
        'the webhook of order 1001, taken by the deployed URL',
        30,
        async () =>
          (await delivered()).find(
            ({ external_id, state }) => external_id === '1001' && state === 'delivered',
          ),
        delivered,
      )
      const forged = await sendWebhook(webhookUrl, 'guessed', {
        source: SOURCE,
        external_id: '1001',
        status: 'refunded',
      })
      expect('HTTP status of the answer to a forged webhook', forged.status, 401)
    })

    await step('feed', async () => {
      const { event, version, data } = await takes(
        cloud,
        feed,
        'the message of order 1001 in the feed of its store',
      )
      expect(
        'what the store hears',
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
      expect('status that is kept of order 1001', status, 'paid')
    })

    await step('request of a store', async () => {
      const { key } = v.parse(
        madeKey,
        await must('relay stores key', relay(folder, env, ['stores', 'key', SOURCE, '--json', ...at])),
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
      expect('HTTP status of the answer to the store', response.status, 202)
      const { data } = await takes(cloud, feed, 'what became of order 1003 in the feed of its store')
      expect(
        'what the store hears of order 1003',
        { external_id: data.external_id, status: data.status },
        { external_id: '1003', status: 'invoiced' },
      )
    })

    await step('check on schedule', async () => {
      await must('serverless invoke', serverless(folder, env, 'invoke', '--function', 'reconcile', ...at))
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

      const before = await cloud.setMaxReceives(line, 1)
      await accounting.goAway()
      // Says other than what is known without being newer, so the worker must ask, and nobody answers.
      await sendWebhook(webhookUrl, secret, { ...about, error: 'account' })
      await eventually(
        'the webhook of order 1002 among the dead letters',
        60,
        async () => (await cloud.waiting(dead)) === 1 || undefined,
        () => cloud.waiting(dead),
      )
      await cloud.setMaxReceives(line, before)
    })

    await step('replay', async () => {
      await accounting.comeBack()
      await accounting.finalize(SOURCE, '1002')
      await must('relay dead replay', relay(folder, env, ['dead', 'replay', '--all', ...at]))
      const { data } = await takes(cloud, feed, 'what the replay found out about order 1002')
      expect(
        'what the store hears of order 1002',
        { external_id: data.external_id, status: data.status },
        { external_id: '1002', status: 'paid' },
      )
      expect('dead letters left', await cloud.waiting(dead), 0)
    })

    await step('receipt', async () => {
      const { deliveries, ...rest } = v.parse(
        receipt,
        await must('relay receipt', relay(folder, env, ['receipt', '--json', ...at])),
      )
      expect('what became of the deliveries', deliveries.outcomes, {
        // With which register has tried the secret.
        'ignored: foreign source': 1,
        queued: 4,
        'refused: forged, mismatch': 1,
      })
      expect('the rest of the receipt', rest, {
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
        `stores:\n  - source: second-shop\n    feed:\n      http: ${store.url}\n`,
      )
      await deploy()
      const secretCommand = ['stores', 'secret', 'second-shop', '--stdin', ...at]
      await must('relay stores secret', relay(folder, env, secretCommand, store.secret))
      const answer = await sendWebhook(webhookUrl, secret, {
        source: 'second-shop',
        external_id: '1',
        status: 'paid',
      })
      expect('HTTP status of the answer to a webhook of the new store', answer.status, 200)
      const { data } = await eventually('what the new store hears by HTTP', 30, async () => store.heard())
      expect('source of what the new store hears', data.source, 'second-shop')
      expect('status that is still kept of order 1001', await cloud.statusOf(orders, SOURCE, '1001'), 'paid')
    })

    await step('remove', async () => {
      await must('serverless remove', serverless(folder, env, 'remove', ...at))
      expect('outputs of the stack', await cloud.outputs(), undefined)
      expect('queues left', await cloud.queues(), [])
      expect(
        'whether the table of deliveries is left',
        await cloud.hasTable(outputs.DeliveriesTableName ?? ''),
        false,
      )
      expect('whether the table of orders is left, as it shall be', await cloud.hasTable(orders), true)
      expect('status that is still kept of order 1001', await cloud.statusOf(orders, SOURCE, '1001'), 'paid')
      const { status } = await sendWebhook(webhookUrl, secret, {
        source: SOURCE,
        external_id: '1',
        status: 'paid',
      })
      expect('whether the webhook URL still answers with 200', status === 200, false)
    })

    await step('deploy with the orders that were kept', async () => {
      await must('adopt-orders', adoptOrders(folder, env, ...at))
      await deploy()
      expect('status that is still kept of order 1001', await cloud.statusOf(orders, SOURCE, '1001'), 'paid')
      expect('whether the table of orders is of the stack', 'OrdersTable' in (await cloud.resources()), true)
    })
  } catch (error) {
    for (const name of ['webhook', 'orders', 'worker', 'feeder', 'reconcile']) {
      for (const line of await cloud.errorsOf(name)) process.stderr.write(`${line}\n`)
    }
    throw error
  } finally {
    cloud.close()
  }
}
