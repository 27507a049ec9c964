import { createHmac } from 'node:crypto'
import { answerCalls, callsOf, recordingCalls } from '@order-relay/test-support/calls.ts'
import {
  ACCOUNT,
  arn,
  ofType,
  REGION,
  type Resolved,
  type Resource,
} from '../../../test/deploy/template/resolve.ts'
import type { AwsCall } from '../../../test/deploy/template/use.ts'
import { startFakeShop } from '../fake/shop.ts'
import { type Connection, connectionId } from '../lib/connections.ts'
import { PATHS } from '../lib/receiver.ts'
import { DEFAULTS } from '../lib/settings.ts'

const SOURCE = 'shop'
const WEBHOOK = { id: 1000 }

/** A function of the template. @throws if the template has no function of this name */
export const functionOf = ({ resources }: Resolved, name: string): Resource => {
  const found = resources.find(({ id }) => id === `${name}LambdaFunction`)
  if (found === undefined) throw new Error(`Cannot find the function ${name}: it is not in the template`)
  return found
}

/** What Lambda does with a function's role. */
export const callsOfLambda = (stack: Resolved, name: string): AwsCall[] => {
  const { arn: self, name: full } = functionOf(stack, name)
  const queues = ofType(stack, 'AWS::Lambda::EventSourceMapping').flatMap(({ Properties }) =>
    Properties.FunctionName === self ? [Properties.EventSourceArn] : [],
  )
  const stream = arn('logs', `log-group:/aws/lambda/${full}:log-stream:1`)
  return [
    ...queues.flatMap(resource =>
      ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'].map(each => ({
        action: `sqs:${each}`,
        resource,
      })),
    ),
    ...['CreateLogStream', 'PutLogEvents'].map(each => ({ action: `logs:${each}`, resource: stream })),
  ]
}

/** Runs each function with the environment of the template, including an order that fails, and records its AWS calls. */
export const recordUses = async (stack: Resolved) => {
  const shop = await startFakeShop()
  const { id } = shop.create()
  const connection: Connection = {
    settings: {
      ...DEFAULTS,
      source: SOURCE,
      shop: shop.url,
      currency: 'IRR',
      decimals: 0,
      taxRate: 10,
      pricesIncludeTax: true,
    },
    language: 'en',
    since: new Date(0).toISOString(),
    shop: { url: shop.url, key: shop.key, secret: shop.secret },
    webhooks: { secret: 'secret', url: shop.url },
    relay: { url: 'http://127.0.0.1:1', key: 'key', secret: 'secret' },
  }
  answerCalls(action =>
    action === 'GetParametersByPath' ? { Parameters: [{ Value: JSON.stringify(connection) }] } : {},
  )
  const before = process.env
  const { Variables } = functionOf(stack, 'Sync').Properties.Environment
  const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: REGION }
  process.env = { ...before, ...credentials, ...Variables, POWERTOOLS_LOG_LEVEL: 'SILENT' }
  try {
    const [{ handler: receive }, { handler: synchronize }, { handler: poll }] = await Promise.all([
      import('../functions/receiver.ts'),
      import('../functions/sync.ts'),
      import('../functions/poll.ts'),
    ])
    const signed = createHmac('sha256', 'secret').update(JSON.stringify(WEBHOOK)).digest('base64')
    const event = {
      rawPath: PATHS.shop + connectionId(SOURCE),
      body: JSON.stringify(WEBHOOK),
      headers: { 'x-wc-webhook-signature': signed },
    } as unknown as Parameters<typeof receive>[0]
    const record = (order: number) => ({
      messageId: String(order),
      receiptHandle: String(order),
      body: JSON.stringify({ source: SOURCE, order: String(order) }),
      attributes: { MessageGroupId: String(order), ApproximateReceiveCount: '1' },
    })
    // The first event fails, since there is no relay. The order of the other one has no SKU, so only its state is saved.
    const Records = [record(id), record(shop.create({ items: [{ sku: null, total: '1' }] }).id)]
    await recordingCalls(['Receiver'], async () => receive(event))
    await recordingCalls(['Sync'], () =>
      synchronize({ Records } as unknown as Parameters<typeof synchronize>[0]),
    )
    await recordingCalls(['Poll'], () => poll())
  } finally {
    process.env = before
    answerCalls(undefined)
    await shop.close()
  }
  const calls = (name: string): AwsCall[] =>
    [...callsOf(name)].map(call => {
      const [action = '', resource = ''] = call.split(' ')
      return { action, resource: resource.replace('REGION', REGION).replace('ACCOUNT', ACCOUNT) }
    })
  return { Receiver: calls('Receiver'), Sync: calls('Sync'), Poll: calls('Poll') }
}
