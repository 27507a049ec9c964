import {
  FAILING_INDEX,
  isProbed,
  type PARAMETERS,
  PROBE_SOURCE,
  UNSETTLED_INDEX,
} from '../lib/platform/names.ts'
import { indexOf } from '../lib/platform/parameters.ts'
import {
  allow,
  arn,
  arnOf,
  parameterPath,
  type Resource,
  type Resources,
  roleOf,
  type Stack,
} from './cloudformation.ts'
import { feedQueueId, feedsArn, QUEUE_IDS, READ_QUEUE } from './queues.ts'
import { DELIVERIES_ID, HISTORY_ID, ordersId, REGISTRATIONS_ID } from './tables.ts'

/** The role of one function: the given statements, its own log group, and traces. */
const role = (functionId: string, statements: readonly object[]): [string, Resource] => [
  `${functionId}Role`,
  roleOf('lambda', `Permissions of the order-relay function ${functionId}`, [
    ...statements,
    allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [arnOf(`${functionId}LogGroup`)]),
    // X-Ray has no resources: these two actions are allowed on everything or not at all.
    allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], ['*']),
  ]),
]

/** One role for each function: exact actions on exact resources, or on the feeds of the stack (promise P11). */
export const roleResources = ({ stage, prefix, ...stack }: Stack): Resources => {
  const feeds = feedsArn(prefix)
  // SecureString with the account's own aws/ssm key needs no KMS permission.
  const read = (action: 'GetParameter' | 'GetParametersByPath', name: keyof typeof PARAMETERS) =>
    allow([`ssm:${action}`], [arn('ssm', `parameter${parameterPath(stage, name)}`)])
  const readIndexed = (name: keyof typeof PARAMETERS) => {
    const path = parameterPath(stage, name)
    return allow(
      ['ssm:GetParametersByPath'],
      [path, indexOf(path)].map(each => arn('ssm', `parameter${each}`)),
    )
  }
  const orders = arnOf(ordersId(stack))

  return Object.fromEntries([
    role('Webhook', [
      allow(['dynamodb:GetItem', 'dynamodb:PutItem'], [arnOf(DELIVERIES_ID)]),
      allow(['sqs:SendMessage'], [arnOf(QUEUE_IDS.orders), arnOf(QUEUE_IDS.quarantine)]),
      read('GetParametersByPath', 'webhook'),
    ]),
    role('Api', [
      allow(['dynamodb:GetItem'], [orders]),
      // It announces creates and withdrawals; only the worker writes orders.
      allow(['dynamodb:GetItem', 'dynamodb:UpdateItem'], [arnOf(DELIVERIES_ID)]),
      allow(['dynamodb:DeleteItem', 'dynamodb:PutItem'], [arnOf(REGISTRATIONS_ID)]),
      allow(['sqs:SendMessage', 'sqs:GetQueueAttributes'], [arnOf(QUEUE_IDS.orders)]),
      readIndexed('storeKeys'),
      read('GetParameter', 'accountingKey'),
    ]),
    role('Worker', [
      // It records a failing event on its order.
      allow(['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], [orders]),
      allow(['dynamodb:GetItem'], [arnOf(DELIVERIES_ID)]),
      allow(['dynamodb:PutItem'], [arnOf(HISTORY_ID)]),
      allow(READ_QUEUE, [arnOf(QUEUE_IDS.orders), arnOf(QUEUE_IDS.bulk)]),
      allow(['sqs:SendMessage'], [arnOf(QUEUE_IDS.bulk), arnOf(QUEUE_IDS.quarantine), feeds]),
      read('GetParameter', 'accountingKey'),
    ]),
    role('Feeder', [
      allow(READ_QUEUE, [feeds]),
      allow(['dynamodb:GetItem'], [arnOf(REGISTRATIONS_ID)]),
      // Records the attempts.
      allow(['dynamodb:PutItem'], [arnOf(HISTORY_ID)]),
      allow(['sqs:SendMessage'], [arnOf(QUEUE_IDS.feedsDead)]),
      readIndexed('feedSecrets'),
    ]),
    role('Reconcile', [
      allow(
        ['dynamodb:Query'],
        [UNSETTLED_INDEX, FAILING_INDEX].map(index => ({ 'Fn::Join': ['/', [orders, `index/${index}`]] })),
      ),
      allow(['dynamodb:GetItem', 'dynamodb:UpdateItem'], [orders]),
      allow(['sqs:SendMessage'], [arnOf(QUEUE_IDS.orders)]),
      allow(['sqs:ChangeMessageVisibility'], [arnOf(QUEUE_IDS.orders), arnOf(QUEUE_IDS.bulk)]),
      read('GetParameter', 'accountingKey'),
    ]),
    ...(isProbed(stack.stores)
      ? [
          role('Probe', [
            allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage'], [arnOf(feedQueueId(PROBE_SOURCE))]),
            read('GetParametersByPath', 'webhookSecrets'),
          ]),
        ]
      : []),
  ])
}
