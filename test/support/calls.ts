import { AsyncLocalStorage } from 'node:async_hooks'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SQSClient } from '@aws-sdk/client-sqs'
import { beforeAll, expect, test } from '@jest/globals'
import * as v from 'valibot'

/** AWS calls of the commands as IAM evaluates them: `action resource`, by the arguments of the command. */
const recorded = new Map<string, Set<string>>()
const inCommand = new AsyncLocalStorage<Set<string>>()

/** Runs a command and records what it calls. */
export const recordingCalls = <Result>(
  args: readonly string[],
  run: () => Promise<Result>,
): Promise<Result> => {
  const command = args.join(' ')
  const calls = recorded.get(command) ?? new Set()
  recorded.set(command, calls)
  return inCommand.run(calls, run)
}

/** The calls that were made with these arguments, or whose first words they are. */
export const callsOf = (...words: string[]): ReadonlySet<string> =>
  new Set(
    [...recorded].flatMap(([args, calls]) =>
      `${args} `.startsWith(`${words.join(' ')} `) ? [...calls] : [],
    ),
  )

/** Actions whose names differ from the command. */
const ACTIONS: Readonly<Record<string, string>> = {
  Invoke: 'InvokeFunction',
  ChangeMessageVisibilityBatch: 'ChangeMessageVisibility',
}

const inStack = (name: string) => {
  const last = name.slice(name.lastIndexOf('/') + 1)
  // The connector is a separate stack.
  if (last.startsWith('order-relay-woocommerce-')) return last
  return `order-relay-STAGE-${last.replace(/^order-relay-production-/, '')}`
}

/** The IAM resource of an input field. */
const RESOURCES: Readonly<Record<string, (name: string) => string>> = {
  QueueUrl: inStack,
  QueueName: inStack,
  TableName: name => `table/${inStack(name)}`,
  RequestItems: tables => `table/order-relay-STAGE-${Object.keys(tables)[0]}`,
  Name: name => `parameter${name}`,
  Path: name => `parameter${name}`,
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
  const named = whole?.replace(/(order-relay(?:-woocommerce)?[-/])(local|production)/, '$1STAGE')
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
  const calls = inCommand.getStore()
  if (calls) {
    const service = this.config.serviceId.toLowerCase().replace('cloudwatch logs', 'logs')
    const action = command.constructor.name.replace(/Command$/, '')
    calls.add(`${service}:${ACTIONS[action] ?? action} ${resourceOf(service, command.input)}`)
    if (answer !== undefined) return Promise.resolve(answer(action, command.input))
  }
  return send.call(this, command, ...more)
}

const list = v.array(v.string())
const policy = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ Statement: v.array(v.looseObject({ Sid: v.string(), Action: list, Resource: list })) }),
)

const document = (file: string) => readFile(join(import.meta.dirname, '../../docs', file), 'utf8')

/** What a policy of docs/iam allows: `action resource`, by statement. */
export const grantedBySid = async (name = 'operator') => {
  const { Statement } = v.parse(policy, await document(`iam/${name}.json`))
  return new Map(
    Statement.map(({ Sid, Action, Resource }) => [
      Sid,
      Action.flatMap(action => Resource.map(resource => `${action} ${resource}`)),
    ]),
  )
}

/** Whether `action resource` of a policy covers that of a call. */
export const matches = (pattern: string, text: string) =>
  new RegExp(`^${pattern.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`).test(text)

/** The texts in backticks. */
export const quoted = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)

/** The statements that each command needs, from the table of docs/deploy.md. */
const statementsByCommand = async () => {
  const [, section = ''] = (await document('deploy.md')).split('\n### Operators with different rights\n')
  const rows = section.split('\n## ')[0]?.match(/^\|.*\|$/gm) ?? []
  return new Map(
    rows.slice(2).flatMap(row => {
      const [, , commands, statements] = row.split('|')
      return quoted(commands).map(command => [command, quoted(statements)] as const)
    }),
  )
}

/**
 * Commands without recorded calls: they do not call AWS, except `console`, whose pages run the other commands, and
 * `stores secret`, which needs another `stores.yml`. The commands of `relay woo` are tested with their own policy.
 */
const WITHOUT_CALLS = ['completion', 'console', 'explain-signature', 'sandbox', 'stores secret']

/** The commands without subcommands, from docs/cli.md. */
const leafCommands = async () => {
  const names = [...(await document('cli.md')).matchAll(/^## relay (.*)$/gm)].map(([, name = '']) => name)
  return names.filter(name => !names.some(other => other.startsWith(`${name} `)))
}

const commandsWithoutCalls = async () => {
  const silent = (await leafCommands()).filter(name => callsOf(name).size === 0)
  return silent.filter(name => !name.startsWith('woo ')).toSorted()
}

/** Tests that the operators' policy allows exactly the calls that the commands have made. */
export const policyTests = () => {
  beforeAll(async () => {
    const missing = (await commandsWithoutCalls()).filter(name => !WITHOUT_CALLS.includes(name))
    if (missing.length === 0) return
    const named = missing.slice(0, 3).map(name => `"relay ${name}"`)
    throw new Error(
      `Cannot check the policy: no test has run ${named.join(', ')}${missing.length > 3 ? ` and ${missing.length - 3} other commands` : ''}. ` +
        'Run the whole file, without -t; run a new command in one of its tests, or add it to WITHOUT_CALLS in ' +
        'test/support/calls.ts if it does not call AWS',
    )
  })

  test('the commands listed as being without calls have made none', async () => {
    expect(await commandsWithoutCalls()).toEqual(WITHOUT_CALLS)
  })

  test('docs/iam/operator.json allows exactly the actions that the commands use', async () => {
    const granted = [...(await grantedBySid()).values()].flat()
    const made = [...recorded.values()].flatMap(calls => [...calls])
    // After a restore, the orders are in another table.
    const restored = made.map(call => call.replace('table/order-relay-STAGE-orders', '$&-2'))
    const calls = [...made, ...restored]
    expect(calls.filter(call => !granted.some(each => matches(each, call)))).toEqual([])
    expect(granted.filter(each => !calls.some(call => matches(each, call)))).toEqual([])
  })

  test('docs/deploy.md names the statements that each command needs', async () => {
    const [granted, needed] = [await grantedBySid(), await statementsByCommand()]
    expect(new Set(['Stack', ...[...needed.values()].flat()])).toEqual(new Set(granted.keys()))
    const refused = [...recorded].flatMap(([args, calls]) => {
      const words = args.split(' ')
      const commands = [...needed.keys()].filter(each => each.split(' ').every(word => words.includes(word)))
      const command = commands.toSorted((a, b) => b.length - a.length)[0] ?? ''
      const allowed = ['Stack', ...(needed.get(command) ?? [])].flatMap(sid => granted.get(sid) ?? [])
      return [...calls]
        .filter(call => !allowed.some(each => matches(each, call)))
        .map(call => `${args}: ${call}`)
    })
    expect(refused).toEqual([])
  })
}
