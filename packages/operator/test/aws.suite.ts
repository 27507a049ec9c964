import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { answerCalls } from '@order-relay/test-support/calls.ts'
import { relay } from '@order-relay/test-support/relay.ts'

const resource = (Type: string, Properties: object) => ({ Type: `AWS::Lambda::${Type}`, Properties })
const lambda = (name: string) =>
  resource('Function', {
    FunctionName: `order-relay-production-${name}`,
    Timeout: 9,
    Environment: { Variables: { ACCOUNTING_URL: 'http://127.0.0.1:1' } },
  })
const WorkerLiveAlias = resource('Alias', { FunctionName: { Ref: 'Worker' }, Name: 'live' })
/** `relay tail` reads the logs of all functions. */
const OTHERS = {
  Api: lambda('api'),
  Feeder: lambda('feeder'),
  Reconcile: lambda('reconcile'),
  Probe: lambda('probe'),
}
const Resources = { Webhook: lambda('webhook'), Worker: lambda('worker'), WorkerLiveAlias, ...OTHERS }
const OUTPUTS = {
  WebhookUrl: 'http://127.0.0.1:1/webhook',
  ApiUrl: 'http://127.0.0.1:1',
  OrdersTableName: 'order-relay-production-orders',
  AlarmTopicArn: 'arn:aws:sns:eu-central-1:000000000000:order-relay-production-alarms',
}

const at = (second: number) => new Date(Date.UTC(2026, 2, 21, 9, 30, second)).toISOString()
const line = (second: number, level: string, message: string, fields: object = {}) => ({
  timestamp: at(second),
  level,
  message,
  source: 'api',
  external_id: '1',
  ...fields,
})
const platform = (second: number, type: string, status: string) => ({
  time: at(second),
  type: `platform.${type}`,
  record: { requestId: 'r', status },
})
/** Two pages each, as from CloudWatch; Lambda's own lines in its JSON log format. */
const LOGS: Readonly<Record<string, object[][]>> = {
  webhook: [
    [line(1, 'INFO', 'first'), { _aws: { Timestamp: 1 }, Deliveries: 1 }],
    [line(4, 'ERROR', 'fourth', { error: { name: 'E', message: 'm', stack: 'E\n at x' } })],
  ],
  worker: [
    [line(2, 'INFO', 'second'), platform(2, 'report', 'success')],
    [platform(3, 'report', 'timeout'), platform(5, 'initReport', 'error')],
  ],
}

type Letter = { id: string; event: string; source?: string; external_id: string }

/** The state of the account, and the command's actions in it. */
const NEW = {
  confirmed: 0,
  pending: 0,
  unreserved: 20,
  letters: [] as readonly Letter[],
  hidden: 0,
  fails: [] as readonly string[],
}
let account = NEW
let [unread, processed, deleted, written]: [Letter[], string[], string[], string[]] = [[], [], [], []]
let states: string[] = []

/** The only queue with messages. */
const LETTERS = 'orders-dead.fifo'

const OPERATOR = 'arn:aws:sts::000000000000:assumed-role/operators/sara'

/** The fields of all commands on which responses depend. */
type Input = Partial<
  Record<'QueueName' | 'QueueUrl' | 'ReceiptHandle' | 'logGroupName' | 'nextToken', string>
> & {
  Item?: { operation: { S: string } }
  AlarmName?: string
  StateValue?: string
  Payload?: string
  MetricDataQueries?: {
    Id: string
    MetricStat: { Metric: { MetricName: string; Dimensions: { Value: string }[] } }
  }[]
  EndTime?: Date
  StartDate?: Date
}

const messageOf = ({ id, event, source = 'api', external_id }: Letter) => {
  const data = { source, external_id, body: '{}', accepted_at: 0 }
  return {
    MessageId: id,
    ReceiptHandle: id,
    Body: JSON.stringify({ event, delivery: randomUUID(), data }),
    Attributes: { MessageGroupId: external_id, SentTimestamp: '0' },
  }
}

const alarm = (name: string, StateValue: string, StateTransitionedTimestamp?: Date) => ({
  AlarmName: `order-relay-production-${name}`,
  StateValue,
  StateTransitionedTimestamp,
  AlarmActions: [name.startsWith('two-') ? '' : OUTPUTS.AlarmTopicArn],
})

const METRICS: Readonly<Record<string, number>> = {
  'Deliveries order-relay-production forged': 3,
  'Deliveries order-relay-production unreadable': 2,
  'EventRetried order-relay-production': 7,
}

/** AWS's responses by command; other commands get an empty response. */
const ANSWERS: Readonly<Record<string, (input: Input) => object>> = {
  DescribeStacks() {
    const Outputs = Object.entries(OUTPUTS).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }))
    return { Stacks: [{ Outputs, EnableTerminationProtection: true }] }
  },
  GetTemplate: () => ({ TemplateBody: JSON.stringify({ Resources }) }),
  GetTopicAttributes: () => ({
    Attributes: {
      SubscriptionsConfirmed: `${account.confirmed}`,
      SubscriptionsPending: `${account.pending}`,
    },
  }),
  GetAccountSettings: () => ({
    AccountLimit: { ConcurrentExecutions: 20, UnreservedConcurrentExecutions: account.unreserved },
  }),
  ListEventSourceMappings: () => ({ EventSourceMappings: [{ ScalingConfig: { MaximumConcurrency: 5 } }] }),
  Invoke({ Payload = '' }) {
    const [{ messageId }] = JSON.parse(Payload).Records
    processed.push(messageId)
    const batchItemFailures = account.fails.includes(messageId) ? [{ itemIdentifier: messageId }] : []
    return { Payload: Buffer.from(JSON.stringify({ batchItemFailures })) }
  },
  FilterLogEvents({ logGroupName = '', nextToken }) {
    const page = LOGS[logGroupName.split('-').at(-1) ?? '']?.[nextToken === undefined ? 0 : 1] ?? []
    const messages = page.map(each => JSON.stringify(each))
    const events = messages.map(message => ({ message, timestamp: 1, eventId: message }))
    return { events, ...(nextToken === undefined && { nextToken: '2' }) }
  },
  GetQueueUrl: ({ QueueName }) => ({ QueueUrl: `https://sqs.example/000000000000/${QueueName}` }),
  GetQueueAttributes: ({ QueueUrl }) => ({
    Attributes: QueueUrl?.endsWith(LETTERS) && {
      ApproximateNumberOfMessages: `${account.letters.length}`,
      ApproximateNumberOfMessagesNotVisible: `${account.hidden}`,
    },
  }),
  // Messages of one group are returned together, as on AWS.
  ReceiveMessage: ({ QueueUrl }) => ({
    Messages: QueueUrl?.endsWith(LETTERS) ? unread.splice(0, 10).map(messageOf) : [],
  }),
  DeleteMessage: ({ ReceiptHandle = '' }) => ({ deleted: deleted.push(ReceiptHandle) }),
  GetCallerIdentity: () => ({ Arn: OPERATOR }),
  PutItem: ({ Item }) => ({ written: written.push(Item?.operation.S ?? '') }),
  DescribeAlarms: () => ({
    MetricAlarms: [
      ...[alarm('relay-dead-letters', 'ALARM', new Date(1000)), alarm('relay-queue-age', 'OK')],
      // An alarm of a stage with the same name prefix.
      alarm('two-queue-age', 'ALARM'),
    ],
  }),
  SetAlarmState: ({ AlarmName, StateValue }) => ({ set: states.push(`${AlarmName} ${StateValue}`) }),
  // AWS's clock is a minute behind ours, and an earlier drill succeeded.
  DescribeAlarmHistory({ StartDate = new Date(0) }) {
    const HistorySummary = `${account.pending ? 'Failed to execute' : 'Successfully executed'} action`
    const items = [
      ...(states.length > 0 ? [{ Timestamp: new Date(Date.now() - 60_000), HistorySummary }] : []),
      { Timestamp: new Date(1000), HistorySummary: 'Successfully executed an earlier action' },
    ]
    return { AlarmHistoryItems: items.filter(({ Timestamp }) => Timestamp >= StartDate) }
  },
  GetMetricData: ({ MetricDataQueries = [], EndTime }) => ({
    MetricDataResults: MetricDataQueries.map(({ Id, MetricStat: { Metric } }) => {
      const name = [Metric.MetricName, ...Metric.Dimensions.map(({ Value }) => Value)].join(' ')
      return { Id, Timestamps: [new Date(Number(EndTime) - 60_000)], Values: [METRICS[name] ?? 0] }
    }),
  }),
}

const letter = (id: string, external_id: string, event = 'order.payment') => ({ id, event, external_id })
const THREE = [
  letter('payment-of-a', 'a'),
  letter('refund-of-a', 'a', 'order.refund'),
  letter('refund-of-b', 'b', 'order.refund'),
]

/** Calls of the command that the local stack does not support. */
export const awsTests = () => {
  beforeAll(() => answerCalls((action, input) => ANSWERS[action]?.(input) ?? {}))
  afterAll(() => answerCalls(undefined))

  const prepare = (state: Partial<typeof NEW> = {}) => {
    account = { ...NEW, ...state }
    unread = [...account.letters]
    ;[processed, deleted, written] = [[], [], []]
  }
  beforeEach(() => prepare())

  test.each([
    [{ confirmed: 0, pending: 0 }, /note {2}alarms have no recipient: .* has no subscription/],
    [{ confirmed: 0, pending: 1 }, /note {2}alarms have no recipient: the subscription is not confirmed/],
    [{ confirmed: 1 }, /ok {2}alarms have a recipient: confirmed subscriptions of .*: 1$/m],
    [{ unreserved: 13 }, /ok {2}the account's Lambda concurrency suffices/],
    [{ unreserved: 12 }, /!! {4}the account's Lambda concurrency is too low: quota 20, 12 of them/],
  ])('the doctor checks the subscriptions of alarms and the quota (%j)', async (state, expected) => {
    prepare(state)
    expect((await relay(['doctor'])).out).toMatch(expected)
  })

  test.each([
    [
      0,
      /ok {2}the alarm order-relay-production-relay-queue-age notifies its topic: Successfully executed action/,
    ],
    [
      1,
      /!! {4}the alarm order-relay-production-relay-queue-age does not notify its topic: Failed to execute action\n +→ /,
    ],
  ])(
    'the drill raises every inactive alarm of the stack and then resets it (%d)',
    async (pending, expected) => {
      prepare({ pending })
      states = []
      const { out } = await relay(['doctor', '--drill'])
      expect(out).toMatch(expected)
      expect(out).toMatch(/note {2}the alarm order-relay-production-relay-dead-letters .* not tried/)
      const name = 'order-relay-production-relay-queue-age'
      expect(states).toEqual([`${name} ALARM`, `${name} OK`])
    },
  )

  test('status shows CloudWatch alarms, queue depths and metric sums', async () => {
    prepare({ letters: THREE, hidden: 1 })
    const { code, out } = await relay(['status', '--json'])
    const { alarms, queues, rates } = JSON.parse(out)
    const states = alarms.flatMap(({ name, state, since }: Record<string, string>) =>
      state === 'unknown' ? [] : [[name, state, since]],
    )
    expect(states).toEqual([
      ['relay-dead-letters', 'alarm', '1970-01-01T00:00:01.000Z'],
      ['relay-queue-age', 'ok', undefined],
    ])
    expect(queues.ordersDead).toEqual({ waiting: 3, inFlight: 1 })
    expect(rates).toMatchObject({ refused: 3, unreadableOrContradictory: 2, retried: 7, processed: 0 })
    expect(code).toBe(1)
  })

  test('the preview of a removal counts dead letters and names the commands', async () => {
    prepare({ letters: THREE })
    const { code, out } = await relay(['preview-remove'])
    expect(code).toBe(1)
    expect(out).toMatch(/^dead letters of orders +3$/m)
    expect(out).toMatch(/^order-relay-production-orders +retained$/m)
    const [, commands] = out.split('To remove the stack anyway:\n')
    expect(commands?.trim().split(/\n +/)).toEqual([
      'npx relay unregister',
      'aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name order-relay-production --region eu-central-1',
      'npx serverless remove --stage production --region eu-central-1 --param="remove=production"',
    ])
  })

  const tail = (...args: string[]) => relay(['tail', '--no-follow', '--since', '1h', ...args])

  test('tail merges the logs of all functions by time, shows timeouts, and stack traces with --verbose', async () => {
    const lines = (await tail()).out.trim().split('\n')
    expect(lines.map(each => each.slice(11, 19))).toEqual([1, 2, 3, 4, 5].map(second => `09:30:0${second}`))
    expect(lines[2]).toContain('worker     ERROR invocation ended with timeout')
    expect(lines[4]).toContain('worker     ERROR start of the function ended with error')
    const errors = await tail('--errors', '--verbose', '--order', '1')
    expect(errors.out).toMatch(/^\S+Z {2}webhook {4}ERROR fourth .*\n {4}at x\n$/)
    expect((await tail('--find', 'ENDED with timeout')).out.trim().split('\n')).toEqual([lines[2]])
    expect(await tail('--order', '2')).toMatchObject({ code: 0, out: '', err: 'No matching lines.\n' })
  })

  // Their calls are also compared with the operators' policy.
  test.each([
    ['deliveries list', /^2026-03-21\S+ +failed +fourth/m],
    ['feeds list', /^2026-03-21\S+ +api +1 /m],
    ['orders list', /^No matching orders in stage "production"/],
    ['quarantine history', /^No operations in stage "production"/],
    ['quarantine show x', /^Cannot show the message: no message "x" is in quarantine/],
    ['quarantine discard x --yes x', /^Cannot discard the message: no message "x" is in quarantine/],
    ['stores index', /^The index of keys and secrets is written\.$/m],
    ['conformance demo-shop --test-store --wait 1s', /delivery: When the first message arrived/],
    ['send https://shop.example --external-id 1', /^Cannot sign the webhook: no secret is stored/],
  ])('"%s" reads and writes the stage', async (command, expected) => {
    const { out, err } = await relay(command.split(' '))
    expect(out + err).toMatch(expected)
  })

  const replay = (...args: string[]) => relay(['dead', 'replay', ...args, '--rate', '100000'])

  test.each([
    ['is not replayed', ['--event', 'order.refund'], []],
    ['fails again, and remains a dead letter', ['--all'], ['payment-of-a']],
  ])('a replay never lets an event overtake an event of the same order that %s', async (_, args, fails) => {
    prepare({ letters: THREE, fails })
    const { code, out } = await replay(...args)
    expect([processed, deleted, code]).toEqual([[...fails, 'refund-of-b'], ['refund-of-b'], 1])
    const kept = [
      ...fails.map(id => `${id} {2}kept: it failed again.*\\n`),
      'refund-of-a {2}kept: an earlier message',
    ]
    const remedy = fails.length > 0 ? '.*\\nTo see why .*: relay tail --errors\\n' : ''
    expect(out).toMatch(new RegExp(`^Replayed 1 message\\.\\n${kept.join('')}${remedy}`))
  })

  test('a replay stops when errors recur, and its history names the caller', async () => {
    const letters = Array.from({ length: 9 }, (_, index) => letter(`m${index}`, `o${index}`))
    const ids = letters.map(({ id }) => id)
    prepare({ letters, fails: ids.filter(id => id !== 'm2') })
    const { code, out } = await replay('--all', '--reason', 'the service is back')
    expect([processed, deleted]).toEqual([ids.slice(0, 8), ['m2']])
    expect(out).toMatch(
      /^Replayed 1 message\.\n[\s\S]*\nStopped: Cannot continue: 5 consecutive replays failed; /,
    )
    expect(code).toBe(1)
    const [before, after] = written.map(text => JSON.parse(text))
    const begun = { by: OPERATOR, action: 'replay', name: 'all', reason: 'the service is back' }
    expect(before).toMatchObject(begun)
    expect(before.ended).toBeUndefined()
    expect(after).toMatchObject({ ...before, counts: { replayed: 1, failed: 7 }, messages: ['m2'] })
    expect(after.stopped).toContain('5 consecutive replays failed')
  })

  test('a replay respects --rate', async () => {
    prepare({ letters: THREE })
    const began = performance.now()
    await relay(['dead', 'replay', '--all', '--rate', '10'])
    expect(processed).toHaveLength(3)
    // The first is not delayed.
    expect(performance.now() - began).toBeGreaterThan(190)
  })

  test('reads any number of messages, and reports those that it could not see', async () => {
    const others = Array.from({ length: 1234 }, (_, index) => letter(`m${index}`, `o${index}`))
    prepare({ letters: [...others, letter('last', 'z', 'order.refund')] })
    const last = await replay('--event', 'order.refund')
    expect(last).toMatchObject({ code: 0, out: 'Replayed 1 message.\n' })
    expect(processed).toEqual(['last'])
    prepare({ letters: THREE, hidden: 2 })
    const { code, out } = await replay('--all')
    expect(out).toMatch(/^Replayed 3 messages\.\n2 more messages not replayed/)
    expect(code).toBe(1)
  })
}
