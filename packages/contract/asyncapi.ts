import { MESSAGES } from './examples.ts'
import { jsonSchemas, refTo } from './schemas.ts'

const SQS = `Each store has its own FIFO queue. The messages of one order are a message group; a message that is not deleted is
redelivered, together with those behind it in its group.`

const HTTP = `A POST with the message as its body. Any 2xx within ten seconds accepts it; otherwise it is retried at
growing intervals for thirteen days, and later messages of the same order wait.
\`X-Service-Signature\` is \`t=<unix time>,v1=<hex>\`, the HMAC-SHA256 of \`<t>.<raw body>\` keyed with the store's secret; while
the secret is being rotated there are two \`v1\`. The headers of Standard Webhooks sign the same body for its libraries.`

const DESCRIPTION = `Messages are delivered at least once, and in sequence per order. A repeated message has the same
\`delivery\`, \`version\` and content. Handle a message if its \`version\` is higher
than the last one of its order, or equal to it with another \`delivery\`; ignore it otherwise. With
\`order.resend\` as \`cause.event\`, an operator has republished the current state, as a new version.

Stores with \`exact: true\` receive only \`order.updated\`, without \`version\`, \`cause\` and \`requests\` in the body: these
are the SQS message attributes \`version\` and \`cause\`, or the headers \`Relay-Version\` and \`Relay-Cause\`, see docs/integrate.md.`

const headers = (names: Record<string, string>) => ({
  type: 'object',
  required: Object.keys(names).filter(name => name !== 'webhook-signature'),
  properties: Object.fromEntries(
    Object.entries(names).map(([name, description]) => [name, { type: 'string', description }]),
  ),
})

const HTTP_HEADERS = headers({
  'X-Service-Event': 'The event of the message.',
  'X-Service-Delivery': 'The delivery id of the message.',
  'X-Service-Signature':
    't=<unix time>,v1=<64 lower-case hexadecimal digits>, with a second v1 during a rotation.',
  'webhook-id': 'The delivery id of the message (Standard Webhooks).',
  'webhook-timestamp': 'Unix time of sending (Standard Webhooks).',
  'webhook-signature': 'Signatures of Standard Webhooks; absent when the secret is not base64.',
})

const message = (name: keyof typeof MESSAGES, title: string, more: object = {}) => ({
  name,
  title,
  contentType: 'application/json',
  payload: refTo(name),
  examples: [{ payload: MESSAGES[name] }],
  ...more,
})

const receive = (channel: string, ...more: string[]) => ({
  action: 'receive',
  channel: { $ref: `#/channels/${channel}` },
  messages: ['orderUpdated', 'requestChanged', ...more].map(name => ({
    $ref: `#/channels/${channel}/messages/${name}`,
  })),
})

/** The AsyncAPI 3.1 document of the feeds, from the store's point of view. */
export const asyncApi = () => {
  const { OrderUpdated, RequestChanged, Test } = jsonSchemas()
  const messages = (more: object) => ({
    orderUpdated: message('OrderUpdated', 'The order has changed', more),
    requestChanged: message('RequestChanged', 'The state of a request has changed', more),
  })
  return {
    asyncapi: '3.1.0',
    info: {
      title: 'Feeds of the order relay',
      version: '1.0.0',
      description: DESCRIPTION,
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    channels: {
      sqs: {
        address: 'feed-{source}.fifo',
        description: SQS,
        parameters: { source: { description: 'The source of the store, or its `queue` in stores.yml.' } },
        messages: messages({}),
        bindings: { sqs: { queue: { name: 'feed-{source}.fifo', fifoQueue: true } } },
      },
      http: {
        address: null,
        description: HTTP,
        messages: {
          ...messages({ headers: HTTP_HEADERS }),
          test: message(
            'Test',
            'A test by `relay stores test`, without an order: acknowledge it and do nothing',
            {
              headers: HTTP_HEADERS,
            },
          ),
        },
      },
    },
    operations: { receiveBySqs: receive('sqs'), receiveByHttp: receive('http', 'test') },
    components: { schemas: { OrderUpdated, RequestChanged, Test } },
  }
}
