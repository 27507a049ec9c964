import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { bundle } from '@order-relay/deploy/bundle.ts'
import { recordOf } from '@order-relay/local/event-source.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { CREDENTIALS, drain, type Parts, startParts } from '@order-relay/test-support/parts.ts'
import { startSandbox } from 'order-relay-sandbox'
import { connectionOf } from '../fake/connection.ts'
import { startFakeShop } from '../fake/shop.ts'
import { connectionId } from '../lib/connections.ts'
import { namesOf, TABLE_SCHEMA } from '../lib/names.ts'
import { PATHS } from '../lib/receiver.ts'

const { table, queue, path } = namesOf('test')
const SOURCE = 'shop'
const folder = useFolder()

/** Loads a function as it is deployed: bundled, with the SDK's parts that Lambda needs. */
const load = async (name: string) => {
  const { code } = await bundle(`connectors/woocommerce/functions/${name}`)
  const file = folder(`${name}.mjs`)
  await writeFile(file, code)
  const { handler } = await import(pathToFileURL(file).href)
  return handler as (event: unknown) => Promise<{ statusCode?: number; batchItemFailures?: unknown[] }>
}

let parts: Parts
const before = process.env

beforeAll(async () => {
  const queues = [{ id: 'Events', name: queue, attributes: { FifoQueue: true as const } }]
  parts = await startParts({ tables: [{ name: table, schema: TABLE_SCHEMA }], queues })
  process.env = {
    ...before,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_DYNAMODB: parts.endpoints.dynamodb,
    AWS_ENDPOINT_URL_SQS: parts.endpoints.sqs,
    AWS_ENDPOINT_URL_SSM: parts.endpoints.ssm,
    TABLE: table,
    QUEUE_URL: parts.queueUrl(queue),
    CONNECTIONS_PATH: path,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  }
})
afterAll(async () => {
  process.env = before
  await parts.close()
})

test('the bundled functions relay an order from the webhook to the accounting service', async () => {
  const shop = await startFakeShop()
  const sandbox = await startSandbox({ port: 0 })
  try {
    const connection = connectionOf(shop, SOURCE, {
      webhooks: { secret: 'secret', url: '' },
      relay: { url: sandbox.url, key: 'sandbox-key', secret: 'feed secret' },
    })
    const id = connectionId(SOURCE)
    await parts.ssm.putParameter({
      Name: `${path}/${id}`,
      Value: JSON.stringify(connection),
      Type: 'SecureString',
    })
    const [receive, synchronize, poll] = await Promise.all([load('receiver'), load('sync'), load('poll')])

    const body = JSON.stringify(shop.create())
    const signature = createHmac('sha256', 'secret').update(body).digest('base64')
    const event = { rawPath: PATHS.shop + id, headers: { 'x-wc-webhook-signature': signature }, body }
    expect(await receive(event)).toMatchObject({ statusCode: 200 })
    expect(await receive({ ...event, headers: {} })).toMatchObject({ statusCode: 401 })

    const messages = await drain(parts.sqs, parts.queueUrl(queue))
    expect(messages).toHaveLength(1)
    const Records = messages.map(message => recordOf(message, queue))
    expect(await synchronize({ Records })).toEqual({ batchItemFailures: [] })
    const order = await fetch(`${sandbox.url}/api/v1/orders/1000/?source=${SOURCE}`, {
      headers: { authorization: 'Bearer sandbox-key' },
    })
    expect(await order.json()).toMatchObject({ status: 'paid' })

    shop.create()
    await poll({})
    expect((await drain(parts.sqs, parts.queueUrl(queue))).map(({ Body = '' }) => JSON.parse(Body))).toEqual([
      { source: SOURCE, order: '1001' },
    ])
  } finally {
    await Promise.all([shop.close(), sandbox.close()])
  }
})
