import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import { type Settings, VARIABLES } from '../../../lib/platform/environment.ts'
import type { OutgoingRequest } from '../../../lib/platform/http-client.ts'
import type { Telemetry } from '../../../lib/platform/telemetry.ts'
import { createProbe } from '../../../lib/probe/handler.ts'
import { SECRETS_PATH } from '../../../proofs/crash/aws.ts'
import { ONCE, PATTERNS } from '../../../proofs/crash/explore.ts'
import { type Dependencies, SETTINGS } from '../../../proofs/crash/functions.ts'
import { APP, WEB } from '../../../proofs/crash/places.ts'
import { SCENARIOS } from '../../../proofs/crash/scenarios.ts'
import { violationsOf } from '../../../proofs/crash/violations.ts'
import { runScenario, type Scenario } from '../../../proofs/crash/world.ts'
import { context, scheduledEvent } from '../../support/lambda.ts'
import { powertoolsOutput } from '../../support/powertools.ts'
import { MINUTE, SECOND } from '../../support/scenarios.ts'
import { arn, type FunctionName, functionOf, type Resolved, STACK } from './resolve.ts'
import { tableUse } from './use-of-tables.ts'

/** A recorded log line as CloudWatch discovers its fields: by path. */
export type Line = Readonly<Record<string, string | number>>

/** The fields of a JSON log line: those of objects by their paths. */
const fieldsOf = (value: unknown, path = ''): [string, string | number][] => {
  if (typeof value === 'number' || typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object' || value === null) return value === null ? [] : [[path, String(value)]]
  return Object.entries(value).flatMap(([key, each]) => fieldsOf(each, path === '' ? key : `${path}.${key}`))
}

/** A request that IAM authorizes. */
export type AwsCall = { action: string; resource: string }

/** A function's AWS calls and the environment variables that it read in the scenarios. */
type Use = { calls: readonly AwsCall[]; variables: ReadonlySet<string> }
type Uses = Readonly<Record<FunctionName, Use>>

const each = <Value>(of: (name: FunctionName) => Value): Readonly<Record<FunctionName, Value>> => ({
  webhook: of('webhook'),
  api: of('api'),
  worker: of('worker'),
  feeder: of('feeder'),
  reconcile: of('reconcile'),
  probe: of('probe'),
})

/** A metric of the stack with its dimensions other than `service`. */
export const metricOf = (name: string, dimensions: Readonly<Record<string, string>>) =>
  `${name} ${JSON.stringify(dimensions)}`

const answered = v.object({
  Items: v.array(v.custom<Record<string, AttributeValue>>(item => typeof item === 'object')),
})

/** The action and resource that IAM evaluates for a command. */
const callOf = (command: { input: object }): AwsCall => {
  const name = command.constructor.name.replace(/Command$/, '')
  const { TableName, IndexName, QueueUrl, Path, Name }: Partial<Record<string, string>> = { ...command.input }
  if (TableName !== undefined) {
    const index = IndexName === undefined ? '' : `/index/${IndexName}`
    return { action: `dynamodb:${name}`, resource: arn('dynamodb', `table/${TableName}${index}`) }
  }
  if (QueueUrl !== undefined) {
    // SQS has no separate actions for batches.
    const action = `sqs:${name.replace(/Batch$/, '')}`
    return { action, resource: arn('sqs', QueueUrl.slice(QueueUrl.lastIndexOf('/') + 1)) }
  }
  return { action: `ssm:${name}`, resource: arn('ssm', `parameter${Path ?? Name}`) }
}

const REPEATED = PATTERNS.find(({ sends }) => sends === 'repeated') ?? ONCE

/** At first, the endpoints cannot reach the order queue; they count and log each failure. */
const OUTAGE: Scenario = {
  name: 'the order queue fails',
  orders: {
    1001: { createdBy: 'relay', pays: true },
    1002: { createdBy: 'service', paidAtOnce: true, review: true, fixedAfter: 0 },
  },
  outage: (place, elapsed) =>
    elapsed < MINUTE && place.endsWith('send to the order queue') ? new Error('down') : undefined,
}

/** The only change of an order is missing from the history. */
const THROTTLED: Scenario = {
  name: 'the history is throttled',
  orders: { 1001: { createdBy: 'service', paidAtOnce: true, review: true, fixedAfter: 2 * MINUTE } },
  outage: (place, elapsed) =>
    elapsed < 3 * MINUTE && place === 'worker: add to the history'
      ? Object.assign(new Error('slow down'), { name: 'ThrottlingException' })
      : undefined,
}

/** Every request is counted, and the first one fills the window of its store. */
const LIMITED: Scenario = {
  name: 'a store exceeds its limit',
  orders: {},
  warm: true,
  happens({ clock, stores }) {
    const foreign = { source: WEB, external_id: '1' }
    stores.stranger('of another source', 403, 'store-key-of-shop', foreign)
    clock.after(SECOND, () => stores.stranger('above the limit', 429, 'store-key-of-shop', foreign))
  },
}

/** All scenarios of the crash harness, and one that uses its second HTTP feed. */
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
  return [...SCENARIOS, ...ofApp, OUTAGE, THROTTLED, LIMITED]
}

/** Names without the stack's prefix, as in the models of the crash harness. */
const unprefixed = (input: object) =>
  Object.fromEntries(
    Object.entries(input).flatMap(([field, value]) =>
      field === 'TableName' || field === 'QueueUrl' ? [[field, String(value).replace(`${STACK}-`, '')]] : [],
    ),
  )

/**
 * Runs the functions with the environment of a template in every scenario of the crash harness, which requires that
 * every possible call is made.
 *
 * @throws when a scenario violates a promise
 */
export const recordUse = async (template: Resolved) => {
  const recorded = each(() => ({
    calls: new Map<string, AwsCall>(),
    variables: new Set<string>(),
  }))
  const tables = tableUse()
  const metrics = new Set<string>()
  const lines = new Map<string, Line>()
  /** Records what Powertools writes, once for each message with the same fields. */
  const log = (kind: string, fields: object, write: (telemetry: Telemetry) => void) => {
    const key = `${kind} ${Object.keys(fields)}`
    if (lines.has(key)) return
    const written: unknown = JSON.parse(powertoolsOutput(write))
    lines.set(key, Object.fromEntries([...fieldsOf(written), ['@message', key]]))
  }
  const telemetry: Telemetry = {
    info: (message, fields = {}) => log(message, fields, ({ info }) => info(message, fields)),
    warn: (message, fields = {}) => log(message, fields, ({ warn }) => warn(message, fields)),
    error: (message, cause, fields = {}) =>
      log(message, fields, ({ error }) => error(message, cause, fields)),
    count: (metric, dimensions) => {
      metrics.add(metricOf(metric, dimensions ?? {}))
      log(metric, {}, ({ count }) => count(metric, dimensions))
    },
    seconds: (metric, value) => {
      metrics.add(metricOf(metric, {}))
      log(metric, {}, ({ seconds }) => seconds(metric, value))
    },
  }
  let current: Scenario | undefined
  const adjust = (name: FunctionName, dependencies: Dependencies): Dependencies => {
    const { calls, variables } = recorded[name]
    const { Variables } = functionOf(template, name).Properties.Environment
    const settings = new Proxy(dependencies.settings, {
      get(_, setting: keyof Settings) {
        const variable = VARIABLES[setting]
        variables.add(variable)
        return Variables[variable] ?? ''
      },
    })
    // The SDK types a response by its command, which a recorder of all commands cannot express.
    const observed = <Client extends { send: (command: never) => unknown }>({ send }: Client) => {
      const record = (command: { input: object }) => {
        const call = callOf(command)
        calls.set(`${call.action} ${call.resource}`, call)
        const given = { ...command.input }
        tables.record(given)
        Object.assign(command.input, unprefixed(given))
        const answer = send(command as never)
        if (!(command instanceof QueryCommand)) return answer
        return Promise.resolve(answer).then(found => {
          const { Items } = v.parse(answered, found)
          return { Items: Items.map(item => tables.observed(given, item)) }
        })
      }
      return { send: record } as unknown as Client
    }
    const { dynamodb, sqs, ssm } = dependencies
    const random = current === LIMITED ? () => 0 : dependencies.random
    return {
      ...dependencies,
      random,
      settings,
      dynamodb: observed(dynamodb),
      sqs: observed(sqs),
      ssm: observed(ssm),
    }
  }
  for (const scenario of scenarios()) {
    current = scenario
    // Repeated webhooks are counted as well.
    const pattern = scenario === OUTAGE ? REPEATED : ONCE
    const violations = violationsOf(await runScenario({ ...scenario, telemetry, adjust }, pattern))
    if (violations.length > 0) throw new Error(`${scenario.name}: ${violations.join('; ')}`)
  }
  let sent = ''
  const answers: Readonly<Record<string, () => object>> = {
    GetParametersByPathCommand: () => ({ Parameters: [{ Name: `${SECRETS_PATH}/1`, Value: 'secret' }] }),
    ReceiveMessageCommand: () => ({ Messages: [{ ReceiptHandle: '1', Body: sent }] }),
    DeleteMessageBatchCommand: () => ({}),
  }
  const send = async (command: object) => answers[command.constructor.name]?.() as never
  const http = async ({ origin, path, body = '' }: OutgoingRequest) => {
    sent = body
    return { status: origin + path === template.outputs.WebhookUrl ? 200 : 404, headers: {}, text: '' }
  }
  const [client, random] = [{ send }, () => 0]
  const given = {
    dynamodb: client,
    sqs: client,
    ssm: client,
    http,
    telemetry,
    stores: [],
    settings: SETTINGS,
  }
  const made = { now: () => 0, random, sleep: async () => undefined, newId: () => 'probe' }
  await createProbe(adjust('probe', { ...given, ...made }))(scheduledEvent, context())
  const uses: Uses = each(name => ({ ...recorded[name], calls: [...recorded[name].calls.values()] }))
  return { uses, tables, counted: metrics, lines: [...lines.values()] }
}
