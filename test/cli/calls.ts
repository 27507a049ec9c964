import { AsyncLocalStorage } from 'node:async_hooks'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SQSClient } from '@aws-sdk/client-sqs'
import { expect, test } from '@jest/globals'
import * as v from 'valibot'

/** Calls to AWS by the command, as IAM sees them: `action resource`. */
const recorded = new Set<string>()
const inCommand = new AsyncLocalStorage<true>()

/** Runs a command and records what it calls. */
export const recordingCalls = <Result>(run: () => Promise<Result>): Promise<Result> =>
  inCommand.run(true, run)

const NAMESPACES: Readonly<Record<string, string>> = {
  CloudFormation: 'cloudformation',
  'CloudWatch Logs': 'logs',
  DynamoDB: 'dynamodb',
  Lambda: 'lambda',
  SNS: 'sns',
  SQS: 'sqs',
  SSM: 'ssm',
}
/** Where the action is not named as the command. */
const ACTIONS: Readonly<Record<string, string>> = {
  Invoke: 'InvokeFunction',
  ChangeMessageVisibilityBatch: 'ChangeMessageVisibility',
}

const name = v.exactOptional(v.string())
const inputs = v.object({
  ...{ QueueUrl: name, QueueName: name, TableName: name, Name: name, Path: name },
  ...{ FunctionName: name, StackName: name, logGroupName: name, TopicArn: name },
})

/** The resource of a call, in the stack order-relay-STAGE. */
const resourceOf = (service: string, input: unknown): string => {
  const {
    QueueUrl,
    QueueName = QueueUrl?.split('/').at(-1),
    TableName,
    Name,
    Path = Name,
    ...given
  } = v.parse(inputs, input)
  const resource =
    (QueueName && `order-relay-STAGE-${QueueName.replace(/^order-relay-production-/, '')}`) ??
    (TableName && `table/order-relay-STAGE-${TableName}`) ??
    (Path && `parameter${Path}`) ??
    (given.FunctionName && `function:${given.FunctionName}`) ??
    (given.StackName && `stack/${given.StackName}/id`) ??
    (given.logGroupName && `log-group:${given.logGroupName}`) ??
    given.TopicArn?.split(':').at(-1)
  if (resource === undefined) return '*'
  const named = resource.replace(/(order-relay[-/])(local|production)/, '$1STAGE')
  return `arn:aws:${service}:REGION:ACCOUNT:${named}`
}

// All clients inherit it.
const base: { send: (command: { input: unknown }, ...more: unknown[]) => unknown } = Object.getPrototypeOf(
  SQSClient.prototype,
)
const send = base.send
base.send = function (this: { config: { serviceId: string } }, command, ...more) {
  if (inCommand.getStore()) {
    const service = NAMESPACES[this.config.serviceId] ?? this.config.serviceId
    const action = command.constructor.name.replace(/Command$/, '')
    recorded.add(`${service}:${ACTIONS[action] ?? action} ${resourceOf(service, command.input)}`)
  }
  return send.call(this, command, ...more)
}

const list = v.array(v.string())
const policy = v.object({ Statement: v.array(v.looseObject({ Action: list, Resource: list })) })

const matches = (pattern: string, text: string) =>
  new RegExp(
    `^${pattern
      .split('*')
      .map(part => part.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
  ).test(text)

/** The policy for operators grants what the commands have called so far, and nothing else. */
export const policyTests = () => {
  test('docs/iam/operator.json allows every call of the commands, and no action that none makes', async () => {
    const file = await readFile(join(import.meta.dirname, '../../docs/iam/operator.json'), 'utf8')
    const { Statement } = v.parse(v.pipe(v.string(), v.parseJson(), policy), file)
    const isAllowed = (call: string) => {
      const [action = '', resource = ''] = call.split(' ')
      return Statement.some(
        ({ Action, Resource }) => Action.includes(action) && Resource.some(each => matches(each, resource)),
      )
    }
    expect([...recorded].filter(call => !isAllowed(call))).toEqual([])
    const unused = Statement.flatMap(({ Action, Resource }) =>
      Action.flatMap(action =>
        Resource.filter(each => ![...recorded].some(call => matches(`${action} ${each}`, call))).map(
          each => `${action} ${each}`,
        ),
      ),
    )
    expect(unused).toEqual([])
  })
}
