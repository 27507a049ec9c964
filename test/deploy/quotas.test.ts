import { expect, test } from '@jest/globals'
import { exceeded } from './quotas.ts'

const entries = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`id${index}`, {}]))
const text = (length: number) => 'x'.repeat(length)
const items = (length: number): unknown[] => Array.from({ length }, () => 0)

const one = (Properties: object) => ({ Resources: { One: { Properties } } })
const dashboard = (widgets: object[]) =>
  one({ DashboardBody: { 'Fn::Sub': JSON.stringify({ widgets, arn: `\${One.Arn}` }) } })

test.each<[string, (size: number) => object, number]>([
  ['resources of a stack', count => ({ Resources: entries(count) }), 500],
  ['characters of a logical id', length => ({ Resources: { [text(length)]: {} } }), 255],
  ['outputs of a stack', count => ({ Outputs: entries(count) }), 200],
  ['parameters of a stack', count => ({ Parameters: entries(count) }), 200],
  ['bytes of a parameter', length => one({ Parameters: { Names: text(length - 2) } }), 4096],
  ['characters of the policies of a role', length => one({ Policies: [text(length - 4)] }), 10_240],
  ['bytes of the policy of a queue', length => one({ PolicyDocument: text(length - 2) }), 8192],
  ['queues that a dead-letter queue names', count => one({ sourceQueueArns: items(count) }), 10],
  ['characters of the name of a queue', length => one({ QueueName: text(length) }), 80],
  ['bytes of the environment of a function', length => one({ Variables: text(length - 2) }), 4096],
  ['executions of an event source', MaximumConcurrency => one({ MaximumConcurrency }), 1000],
  ['characters of the name of an alarm', length => one({ AlarmName: text(length) }), 255],
  ['characters of the description of an alarm', length => one({ AlarmDescription: text(length) }), 1024],
  ['widgets of a dashboard', count => dashboard(items(count) as object[]), 500],
  ['metrics of a widget', count => dashboard([{ metrics: items(count) }]), 500],
  [
    'metrics of a dashboard',
    count => dashboard([...items(5).map(() => ({ metrics: items(490) })), { metrics: items(count - 2450) }]),
    2500,
  ],
  ['alarms of a widget', count => dashboard([{ alarms: items(count) }]), 100],
  ['bytes of a template', length => ({ Description: text(length - '{"Description":""}'.length) }), 1_000_000],
  ['characters beyond ASCII in a template', count => ({ Description: 'ف'.repeat(count) }), 0],
])('one more than the allowed %s is found', (name, templateOf, allowed) => {
  expect(exceeded(JSON.stringify(templateOf(allowed)))).toEqual([])
  const [found] = exceeded(JSON.stringify(templateOf(allowed + 1)))
  expect(found).toBe(`${name}: ${allowed + 1}, and AWS allows ${allowed}`)
})

test('what CloudFormation resolves is measured as long as an ARN', () => {
  const role = (count: number) => one({ Policies: Array.from({ length: count }, () => ({ Ref: 'Queue' })) })
  expect(exceeded(JSON.stringify(role(71)))).toEqual([])
  expect(exceeded(JSON.stringify(role(72)))).toHaveLength(1)
})
