import { expect, test } from '@jest/globals'
import { queuesOf, tablesOf } from '../../local/resources.ts'
import { readService } from '../../local/service.ts'
import { type Resources, resolveEnvironments, resolver } from '../../local/settings.ts'

const keys = {
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}

/** Fn::Sub with `(Name)` for the placeholders, which linters take for a forgotten template string. */
const sub = (text: string) => text.replaceAll('(', '$\u007b').replaceAll(')', '}')

const resources: Resources = {
  Orders: {
    Type: 'AWS::DynamoDB::Table',
    Properties: {
      TableName: { 'Fn::Sub': sub('(AWS::StackName)-orders') },
      BillingMode: 'PAY_PER_REQUEST',
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
      ...keys,
    },
  },
  Line: {
    Type: 'AWS::SQS::Queue',
    Properties: {
      QueueName: 'line.fifo',
      FifoQueue: true,
      VisibilityTimeout: 30,
      RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Dead', 'Arn'] }, maxReceiveCount: 3 },
    },
  },
  Dead: {
    Type: 'AWS::SQS::Queue',
    Properties: { QueueName: 'dead.fifo', FifoQueue: true, Tags: [{ Key: 'a', Value: 'b' }] },
  },
  Alarm: { Type: 'AWS::SNS::Topic', Properties: {} },
  Nameless: { Type: 'AWS::SQS::Queue', Properties: {} },
}
const resolve = resolver({ resources, region: 'eu-west-3', stackName: 'relay-local', sqsPort: 9324 })

test.each<[unknown, string]>([
  ['text', 'text'],
  [7, '7'],
  [true, 'true'],
  [{ Ref: 'Orders' }, 'relay-local-orders'],
  [{ Ref: 'Line' }, 'http://127.0.0.1:9324/000000000000/line.fifo'],
  [{ Ref: 'Nameless' }, 'http://127.0.0.1:9324/000000000000/Nameless'],
  [{ Ref: 'AWS::Region' }, 'eu-west-3'],
  [{ 'Fn::GetAtt': ['Orders', 'Arn'] }, 'arn:aws:dynamodb:eu-west-3:000000000000:table/relay-local-orders'],
  [{ 'Fn::GetAtt': 'Line.Arn' }, 'arn:aws:sqs:eu-west-3:000000000000:line.fifo'],
  [{ 'Fn::GetAtt': ['Line', 'QueueName'] }, 'line.fifo'],
  [{ 'Fn::Join': ['-', ['a', { Ref: 'AWS::Partition' }, 1]] }, 'a-aws-1'],
  [
    { 'Fn::Sub': sub('arn:(AWS::Partition):x:(AWS::Region):(AWS::AccountId)') },
    'arn:aws:x:eu-west-3:000000000000',
  ],
  [
    { 'Fn::Sub': sub('(Line.Arn) (!Literal) (Orders)') },
    sub('arn:aws:sqs:eu-west-3:000000000000:line.fifo (Literal) relay-local-orders'),
  ],
  [
    { 'Fn::Sub': [sub('(Name)/(Dead)'), { Name: { Ref: 'AWS::StackName' } }] },
    'relay-local/http://127.0.0.1:9324/000000000000/dead.fifo',
  ],
])('%j resolves to %s', (value, expected) => {
  expect(resolve(value, 'here')).toBe(expected)
})

test.each<[unknown, RegExp]>([
  [{ Ref: 'Missing' }, /^Cannot resolve provider\.environment\.X: Ref "Missing" names no resource/],
  [{ Ref: 'Alarm' }, /Ref "Alarm" is a AWS::SNS::Topic, which the local stack does not have/],
  [{ 'Fn::GetAtt': ['Orders', 'StreamArn'] }, /Fn::GetAtt "Orders\.StreamArn" is an attribute/],
  [{ 'Fn::Sub': sub('(Nowhere.Arn)') }, /Fn::Sub "\$\{Nowhere\.Arn\}" names no resource/],
  [{ 'Fn::ImportValue': 'x' }, /Fn::ImportValue is an intrinsic function that the local stack does not know/],
  [{ 'Fn::Join': 'x' }, /Fn::Join has an argument of the wrong form: "x"/],
  [{ a: 1, b: 2 }, /\{"a":1,"b":2\} is neither text nor an intrinsic function/],
  [null, /null is neither/],
  [undefined, /undefined is neither/],
])('%j cannot be resolved, and the error says where', (value, message) => {
  expect(() => resolve(value, 'provider.environment.X')).toThrow(message)
})

test('tables carry what CreateTable of the embedded DynamoDB takes, and nothing else', () => {
  expect(tablesOf(resources, resolve)).toEqual([{ TableName: 'relay-local-orders', ...keys }])
})

test('queues come after their dead-letter queues, with attributes as SQS wants them', () => {
  expect(queuesOf(resources, resolve)).toEqual([
    {
      name: 'dead.fifo',
      arn: 'arn:aws:sqs:eu-west-3:000000000000:dead.fifo',
      attributes: { FifoQueue: 'true' },
    },
    {
      name: 'line.fifo',
      arn: 'arn:aws:sqs:eu-west-3:000000000000:line.fifo',
      attributes: {
        FifoQueue: 'true',
        VisibilityTimeout: '30',
        RedrivePolicy:
          '{"deadLetterTargetArn":"arn:aws:sqs:eu-west-3:000000000000:dead.fifo","maxReceiveCount":3}',
      },
      deadLetters: 'arn:aws:sqs:eu-west-3:000000000000:dead.fifo',
    },
    { name: 'Nameless', arn: 'arn:aws:sqs:eu-west-3:000000000000:Nameless', attributes: {} },
  ])
})

test('a property of the wrong form is named', () => {
  const wrong: Resources = {
    Line: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'line', VisibilityTimeout: 'soon' } },
  }
  expect(() =>
    queuesOf(wrong, resolver({ resources: wrong, region: 'x', stackName: 'y', sqsPort: 1 })),
  ).toThrow(/^Cannot create resources\.Line: property "VisibilityTimeout" is wrong/)
})

test('the environments of provider and functions are resolved, each value in its own place', () => {
  const service = readService({
    service: 'relay',
    provider: { region: 'eu-west-3', stage: 'local', environment: { TABLE: { Ref: 'Orders' } } },
    functions: {
      worker: {
        name: 'relay-local-worker',
        handler: 'worker.handler',
        environment: { LINE: { Ref: 'Line' } },
        events: [
          { sqs: 'arn:aws:sqs:x:0:line.fifo' },
          { sqs: { arn: { Ref: 'x' }, batchSize: 2 } },
          { schedule: 'x' },
        ],
      },
    },
  })
  expect(resolveEnvironments(service, resolve)).toEqual({
    provider: { TABLE: 'relay-local-orders' },
    functions: { worker: { LINE: 'http://127.0.0.1:9324/000000000000/line.fifo' } },
  })
  expect(service.functions.worker?.events.map(({ sqs }) => sqs)).toEqual([
    { arn: 'arn:aws:sqs:x:0:line.fifo', batchSize: 10, enabled: true },
    { arn: { Ref: 'x' }, batchSize: 2, enabled: true },
    undefined,
  ])
  const unresolvable = readService({
    service: 'relay',
    provider: { region: 'x', stage: 'local' },
    functions: { worker: { name: 'w', handler: 'w.handler', environment: { TOPIC: { Ref: 'Alarm' } } } },
  })
  expect(() => resolveEnvironments(unresolvable, resolve)).toThrow(
    /^Cannot resolve functions\.worker\.environment\.TOPIC/,
  )
})

test('what the local event source does not support is told, not ignored', () => {
  const sqs = { arn: 'arn:aws:sqs:x:0:line', filterPatterns: [{ a: [1] }] }
  const functions = { worker: { name: 'w', handler: 'w.handler', events: [{ sqs }] } }
  const provider = { region: 'x', stage: 'local' }
  expect(() => readService({ service: 'relay', provider, functions })).toThrow(
    /filterPatterns" is not supported by the local event source/,
  )
})
