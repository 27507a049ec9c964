import { AsyncLocalStorage } from 'node:async_hooks'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SQSClient } from '@aws-sdk/client-sqs'
import { expect, test } from '@jest/globals'
import * as v from 'valibot'

/** AWS calls of the commands as IAM evaluates them: `action resource`. */
const recorded = new Set<string>()
const inCommand = new AsyncLocalStorage<true>()

/** Runs a command and records what it calls. */
export const recordingCalls = <Result>(run: () => Promise<Result>): Promise<Result> =>
  inCommand.run(true, run)

/** Actions whose names differ from the command. */
const ACTIONS: Readonly<Record<string, string>> = {
  Invoke: 'InvokeFunction',
  ChangeMessageVisibilityBatch: 'ChangeMessageVisibility',
}

const inStack = (name: string) =>
  `order-relay-STAGE-${name.slice(name.lastIndexOf('/') + 1).replace(/^order-relay-production-/, '')}`

/** The IAM resource of an input field. */
const RESOURCES: Readonly<Record<string, (name: string) => string>> = {
  ...{ QueueUrl: inStack, QueueName: inStack },
  TableName: name => `table/${inStack(name)}`,
  RequestItems: tables => `table/order-relay-STAGE-${Object.keys(tables)[0]}`,
  ...{ Name: name => `parameter${name}`, Path: name => `parameter${name}` },
  AlarmName: name => `alarm:${name}`,
  FunctionName: name => `function:${name}`,
  StackName: name => `stack/${name}/id`,
  logGroupName: name => `log-group:${name}`,
  TopicArn: arn => arn.slice(arn.lastIndexOf(':') + 1),
}

/** The resource of a call, in the stack order-relay-STAGE. */
const resourceOf = (service: string, input: object): string => {
  const [resource] = Object.entries(input).flatMap(([field, name]) => RESOURCES[field]?.(name) ?? [])
  const { IndexName: index }: { IndexName?: string } = input
  const whole = index === undefined ? resource : `${resource}/index/${index}`
  const named = whole?.replace(/(order-relay[-/])(local|production)/, '$1STAGE')
  return named === undefined ? '*' : `arn:aws:${service}:REGION:ACCOUNT:${named}`
}

let answer: ((action: string, input: object) => object) | undefined

/** Fakes AWS's responses to the commands' calls; undefined removes the fake. */
export const answerCalls = (by: typeof answer): void => {
  answer = by
}

// All clients inherit it.
const base: { send: (command: { input: object }, ...more: unknown[]) => unknown } = Object.getPrototypeOf(
  SQSClient.prototype,
)
const send = base.send
base.send = function (this: { config: { serviceId: string } }, command, ...more) {
  if (inCommand.getStore()) {
    const service = this.config.serviceId.toLowerCase().replace('cloudwatch logs', 'logs')
    const action = command.constructor.name.replace(/Command$/, '')
    recorded.add(`${service}:${ACTIONS[action] ?? action} ${resourceOf(service, command.input)}`)
    if (answer !== undefined) return Promise.resolve(answer(action, command.input))
  }
  return send.call(this, command, ...more)
}

const list = v.array(v.string())
const policy = v.object({ Statement: v.array(v.looseObject({ Action: list, Resource: list })) })

const matches = (pattern: string, text: string) =>
  new RegExp(`^${pattern.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`).test(text)

/** Tests that the operators' policy allows exactly the calls of the commands so far. */
export const policyTests = () => {
  test('docs/iam/operator.json allows exactly the actions that the commands use', async () => {
    const file = await readFile(join(import.meta.dirname, '../../docs/iam/operator.json'), 'utf8')
    const { Statement } = v.parse(v.pipe(v.string(), v.parseJson(), policy), file)
    const granted = Statement.flatMap(({ Action, Resource }) =>
      Action.flatMap(action => Resource.map(resource => `${action} ${resource}`)),
    )
    // After a restore, the orders are in another table.
    const restored = [...recorded].map(call => call.replace('table/order-relay-STAGE-orders', '$&-2'))
    const calls = [...recorded, ...restored]
    expect(calls.filter(call => !granted.some(each => matches(each, call)))).toEqual([])
    expect(granted.filter(each => !calls.some(call => matches(each, call)))).toEqual([])
  })
}
