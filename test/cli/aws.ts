import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { addressOf } from '../support/address.ts'
import { relay } from './relay.ts'

const lambda = (name: string) => ({
  Type: 'AWS::Lambda::Function',
  Properties: {
    FunctionName: `order-relay-production-${name}`,
    Timeout: 9,
    Environment: { Variables: { ACCOUNTING_URL: 'http://127.0.0.1:1' } },
  },
})
const TEMPLATE = {
  Resources: {
    Webhook: lambda('webhook'),
    Worker: lambda('worker'),
  },
}
const OUTPUTS = {
  WebhookUrl: 'http://127.0.0.1:1/webhook',
  ApiUrl: 'http://127.0.0.1:1',
  AlarmTopicArn: 'arn:aws:sns:eu-central-1:000000000000:order-relay-production-alarms',
}

const at = (second: number) => new Date(Date.UTC(2026, 2, 21, 9, 30, second)).toISOString()
const line = (second: number, level: string, message: string, fields: object = {}) =>
  JSON.stringify({ timestamp: at(second), level, message, source: 'api', external_id: '1', ...fields })
/** In two pages each, as CloudWatch returns them. */
const LOGS: Readonly<Record<string, string[][]>> = {
  webhook: [
    [line(1, 'INFO', 'first')],
    [line(4, 'ERROR', 'fourth', { error: { name: 'E', message: 'm', stack: 'E\n at x' } })],
  ],
  worker: [
    [line(2, 'INFO', 'second')],
    [JSON.stringify({ time: at(3), type: 'platform.report', record: { requestId: 'r', status: 'timeout' } })],
  ],
}

/** The state of the account. */
let subscriptions: { confirmed: number; pending: number }
let unreserved: number

const outputs = Object.entries(OUTPUTS).map(
  ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
)
const xml = (action: string, result: string) =>
  `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>`
const attribute = (key: string, value: number) => `<entry><key>${key}</key><value>${value}</value></entry>`

/** What AWS answers, by action. */
const ACTIONS: Readonly<
  Record<
    string,
    (input: { logGroupName?: string; nextToken?: string; QueueName?: string }) => string | object
  >
> = {
  DescribeStacks: () =>
    xml('DescribeStacks', `<Stacks><member><Outputs>${outputs.join('')}</Outputs></member></Stacks>`),
  GetTemplate: () => xml('GetTemplate', `<TemplateBody>${JSON.stringify(TEMPLATE)}</TemplateBody>`),
  GetTopicAttributes: () =>
    xml(
      'GetTopicAttributes',
      `<Attributes>${attribute('SubscriptionsConfirmed', subscriptions.confirmed)}${attribute('SubscriptionsPending', subscriptions.pending)}</Attributes>`,
    ),
  'account-settings': () => ({
    AccountLimit: { ConcurrentExecutions: 10, UnreservedConcurrentExecutions: unreserved },
  }),
  'event-source-mappings': () => ({ EventSourceMappings: [{ ScalingConfig: { MaximumConcurrency: 5 } }] }),
  FilterLogEvents: ({ logGroupName = '', nextToken }) => {
    const [first = [], second = []] = LOGS[logGroupName.split('-').at(-1) ?? ''] ?? []
    const events = (nextToken === undefined ? first : second).map(message => ({
      message,
      timestamp: 1,
      eventId: message,
    }))
    return { events, ...(nextToken === undefined && { nextToken: '2' }) }
  },
  GetQueueUrl: ({ QueueName }) => ({ QueueUrl: `${process.env.AWS_ENDPOINT_URL}/000000000000/${QueueName}` }),
  GetQueueAttributes: () => ({ Attributes: {} }),
  GetParameter: () => ({}),
  GetParametersByPath: () => ({ Parameters: [] }),
}

/** What the command asks of AWS and the local stack does not have. */
export const awsTests = () => {
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const target = request.headers['x-amz-target']
    const action = String(
      target ?? new URLSearchParams(body).get('Action') ?? request.url?.split('?')[0],
    ).replace(/^.*[./](?=[\w-]+\/?$)/, '')
    const answer = ACTIONS[action.replace('/', '')]?.(target === undefined ? {} : JSON.parse(body)) ?? {}
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  })
  const before = { ...process.env }
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const endpoint = {
      AWS_ENDPOINT_URL: addressOf(server),
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SECRET_ACCESS_KEY: 'x',
    }
    Object.assign(process.env, endpoint)
  })
  afterAll(() => {
    process.env = before
    server.closeAllConnections()
    server.close()
  })

  test.each([
    [{ confirmed: 0, pending: 0 }, 10, /note {2}alarms reach somebody: nobody is subscribed/],
    [{ confirmed: 0, pending: 1 }, 10, /note {2}alarms reach somebody: the subscription is not confirmed/],
    [{ confirmed: 1, pending: 0 }, 10, /ok {2}alarms reach somebody: 1 subscription/],
    [{ confirmed: 1, pending: 0 }, 8, /ok {2}the account's Lambda concurrency suffices/],
    [{ confirmed: 1, pending: 0 }, 7, /!! {4}the account's Lambda concurrency suffices: quota 10, 7 of them/],
  ])(
    'the doctor checks the subscriptions of alarms and the quota (%j, %d)',
    async (found, free, expected) => {
      subscriptions = found
      unreserved = free
      expect((await relay(['doctor'])).out).toMatch(expected)
    },
  )

  test('tail shows the logs of all functions in order, with time-outs, and stacks with --verbose', async () => {
    const { out } = await relay(['tail', '--no-follow', '--since', '1h'])
    const lines = out.trim().split('\n')
    expect(lines.map(each => each.slice(11, 19))).toEqual(['09:30:01', '09:30:02', '09:30:03', '09:30:04'])
    expect(lines[2]).toContain('worker     ERROR invocation ended with timeout')
    const errors = await relay([
      'tail',
      '--no-follow',
      '--since',
      '1h',
      '--errors',
      '--verbose',
      '--order',
      '1',
    ])
    expect(errors.out).toMatch(/ {2}webhook {4}ERROR fourth .*\n {4}at x\n$/)
    const none = await relay(['tail', '--no-follow', '--since', '1h', '--order', '2'])
    expect(none).toMatchObject({ code: 0, out: '', err: 'No matching lines.\n' })
  })
}
