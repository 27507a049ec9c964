import * as v from 'valibot'
import { type Settings, VARIABLES } from '../../lib/platform/environment.ts'
import { ONCE } from '../../proofs/crash/explore.ts'
import type { Dependencies } from '../../proofs/crash/functions.ts'
import { APP, type FunctionName, WEB } from '../../proofs/crash/places.ts'
import { SCENARIOS } from '../../proofs/crash/scenarios.ts'
import { violationsOf } from '../../proofs/crash/violations.ts'
import { runScenario, type Scenario } from '../../proofs/crash/world.ts'
import type { Template } from './packaged.ts'
import { arn } from './resolve.ts'

export const FUNCTIONS: readonly FunctionName[] = ['webhook', 'api', 'worker', 'feeder', 'reconcile']

export const isEndpoint = (name: FunctionName) => name === 'webhook' || name === 'api'

/** The logical id of a function's resource without its suffix. */
export const idOf = (name: FunctionName) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`

/** A request that IAM authorizes. */
export type AwsCall = { action: string; resource: string }

/** What a function did in the scenarios: its calls of AWS, and the variables of its environment that it read. */
type Use = { calls: readonly AwsCall[]; variables: Readonly<Record<string, string>> }
export type Uses = Readonly<Record<FunctionName, Use>>

const each = <Value>(of: (name: FunctionName) => Value): Readonly<Record<FunctionName, Value>> => ({
  ...{ webhook: of('webhook'), api: of('api'), worker: of('worker') },
  ...{ feeder: of('feeder'), reconcile: of('reconcile') },
})

const environment = v.object({ Variables: v.record(v.string(), v.string()) })

/** The action and resource on which IAM decides about a command. */
const callOf = (command: { input: object }): AwsCall => {
  const name = command.constructor.name.replace(/Command$/, '')
  const { TableName, IndexName, QueueUrl, Path, Name }: Partial<Record<string, string>> = { ...command.input }
  if (TableName !== undefined) {
    const index = IndexName === undefined ? '' : `/index/${IndexName}`
    return { action: `dynamodb:${name}`, resource: arn('dynamodb', `table/${TableName}${index}`) }
  }
  if (QueueUrl !== undefined) {
    // SQS has no actions for batches.
    const action = `sqs:${name.replace(/Batch$/, '')}`
    return { action, resource: arn('sqs', QueueUrl.slice(QueueUrl.lastIndexOf('/') + 1)) }
  }
  return { action: `ssm:${name}`, resource: arn('ssm', `parameter${Path ?? Name}`) }
}

/** Every scenario of the crash harness, and one that uses its second HTTP feed as the first is used. */
const scenarios = (): Scenario[] => {
  const ofWeb = SCENARIOS.filter(({ orders }) => Object.values(orders).some(({ source }) => source === WEB))
  const ofApp = ofWeb.map(scenario => ({
    ...scenario,
    orders: Object.fromEntries(
      Object.entries(scenario.orders).map(([id, order]) => [
        id,
        order.source === WEB ? { ...order, source: APP } : order,
      ]),
    ),
  }))
  return [...SCENARIOS, ...ofApp]
}

/**
 * Runs the functions with the environment of a template in every scenario of the crash harness, which fails when one
 * of the calls that they can make is missing.
 *
 * @param template resolved
 * @throws when a scenario violates a promise
 */
export const recordUse = async ({ Resources }: Template): Promise<Uses> => {
  const recorded = each(() => ({
    calls: new Map<string, AwsCall>(),
    variables: {} as Record<string, string>,
  }))
  const adjust = (name: FunctionName, dependencies: Dependencies): Dependencies => {
    const { calls, variables } = recorded[name]
    const { Variables } = v.parse(
      environment,
      Resources[`${idOf(name)}LambdaFunction`]?.Properties.Environment,
    )
    const settings = new Proxy(dependencies.settings, {
      get(_, setting: keyof Settings) {
        const variable = VARIABLES[setting]
        variables[variable] = Variables[variable] ?? ''
        return variables[variable]
      },
    })
    // The SDK types an answer by its command, which a recorder of all commands cannot follow.
    const observed = <Client extends { send: (command: never) => unknown }>({ send }: Client) => {
      const record = (command: { input: object }) => {
        const call = callOf(command)
        calls.set(`${call.action} ${call.resource}`, call)
        return send(command as never)
      }
      return { send: record } as unknown as Client
    }
    const { dynamodb, sqs, ssm } = dependencies
    return { ...dependencies, dynamodb: observed(dynamodb), sqs: observed(sqs), ssm: observed(ssm), settings }
  }
  for (const scenario of scenarios()) {
    const violations = violationsOf(await runScenario({ ...scenario, adjust }, ONCE))
    if (violations.length > 0) throw new Error(`${scenario.name}: ${violations.join('; ')}`)
  }
  return each(name => ({ ...recorded[name], calls: [...recorded[name].calls.values()] }))
}
