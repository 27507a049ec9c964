import { writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from '@jest/globals'
import { readService } from '../../local/service.ts'
import { useFolder } from '../support/folder.ts'

const ports = { relay: 1, lambda: 2, sandbox: 3, dynamodb: 4, sqs: 9324, ssm: 6 }

const folder = useFolder()

beforeAll(async () => {
  const stores =
    'stores:\n  - source: api\n    feed: sqs\n  - source: shop\n    feed: { http: https://shop.example }\n'
  await writeFile(folder('stores.yml'), stores)
})

const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] })
const worker = { name: 'relay-local-worker', handler: 'functions/worker.handler' }
const read = (provider: object, functions: Record<string, object> = { worker }) =>
  readService({ provider, functions }, folder(), ports)

test('references to queues and tables become their local URLs and names', () => {
  const environment = { DEAD: { Ref: 'FeedsDeadQueue' } }
  const service = read(
    {
      environment: { TABLE: { Ref: 'OrdersTable' }, QUEUE: { Ref: 'OrdersQueue' }, PATH: '/relay', COUNT: 7 },
    },
    { feeder: { ...worker, environment } },
  )
  expect(service.environment).toEqual({
    TABLE: 'orders',
    QUEUE: 'http://127.0.0.1:9324/000000000000/orders.fifo',
    PATH: '/relay',
    COUNT: '7',
  })
  expect(service.environments).toEqual({
    feeder: { DEAD: 'http://127.0.0.1:9324/000000000000/feeds-dead.fifo' },
  })
})

test('the stack has the tables and queues of the template, feeds included', () => {
  const { tables, queues } = read({})
  expect(tables.map(({ name }) => name)).toEqual(['deliveries', 'orders'])
  expect(queues.map(({ name }) => name)).toEqual([
    'orders-dead.fifo',
    'feeds-dead.fifo',
    'quarantine',
    'orders.fifo',
    'feed-api.fifo',
    'feed-shop.fifo',
  ])
})

test('event sources and routes are those of serverless.yml', () => {
  const events = [
    { sqs: { arn: arnOf('OrdersQueue'), batchSize: 5, functionResponseType: 'ReportBatchItemFailures' } },
    { schedule: 'rate(5 minutes)' },
  ]
  const api = { ...worker, name: 'api', events: [{ httpApi: 'ANY /api/{proxy+}' }, { httpApi: '*' }] }
  const service = read({}, { worker: { ...worker, events }, api })
  expect(service.eventSources).toEqual([
    {
      key: 'worker',
      functionName: 'relay-local-worker',
      queue: {
        name: 'orders.fifo',
        url: 'http://127.0.0.1:9324/000000000000/orders.fifo',
        arn: 'arn:aws:sqs:eu-central-1:000000000000:orders.fifo',
      },
      batchSize: 5,
      reportsFailures: true,
    },
  ])
  expect(service.routes).toEqual([{ method: 'GET', path: '/api/{proxy+}' }])
})

test.each<[string, () => unknown, RegExp]>([
  [
    'a reference to another resource',
    () => read({ environment: { X: { Ref: 'AlarmTopic' } } }),
    /^Cannot resolve provider\.environment\.X: \{"Ref":"AlarmTopic"\} is neither text nor a reference/,
  ],
  [
    'another intrinsic function',
    () => read({}, { worker: { ...worker, environment: { X: { 'Fn::ImportValue': 'x' } } } }),
    /^Cannot resolve functions\.worker\.environment\.X/,
  ],
  [
    'an unknown queue',
    () => read({}, { worker: { ...worker, events: [{ sqs: { arn: arnOf('LostQueue') } }] } }),
    /^Cannot feed functions\.worker: there is no queue "LostQueue"/,
  ],
  [
    'an option that the local event source does not support',
    () =>
      read(
        {},
        { worker: { ...worker, events: [{ sqs: { arn: arnOf('OrdersQueue'), filterPatterns: [] } }] } },
      ),
    /^Cannot use serverless\.yml: "functions\.worker\.events\.0\.sqs\.filterPatterns"/,
  ],
])('%s stops the start and is named', (_name, attempt, message) => {
  expect(attempt).toThrow(message)
})
