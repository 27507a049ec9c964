import { queuesOf } from '@order-relay/deploy/queues.ts'
import { readStores } from '@order-relay/deploy/stores.ts'
import { tablesOf } from '@order-relay/deploy/tables.ts'
import * as v from 'valibot'
import { type Ports, queueUrl } from './settings.ts'

const sqsEvent = v.strictObject({
  arn: v.strictObject({ 'Fn::GetAtt': v.tuple([v.string(), v.literal('Arn')]) }),
  batchSize: v.optional(v.number(), 10),
  functionResponseType: v.exactOptional(v.string()),
  maximumConcurrency: v.exactOptional(v.number()),
})

/** `rate(5 minutes)`, as milliseconds. */
const rate = v.pipe(
  v.string(),
  v.regex(/^rate\(\d+ minutes?\)$/, 'must be a rate in minutes'),
  v.transform(text => Number.parseInt(text.slice('rate('.length), 10) * 60_000),
)

const environment = v.optional(v.record(v.string(), v.unknown()), {})

const lambda = v.looseObject({
  name: v.string(),
  handler: v.string(),
  timeout: v.optional(v.number(), 6),
  environment,
  events: v.optional(
    v.array(
      v.looseObject({
        sqs: v.exactOptional(sqsEvent),
        httpApi: v.exactOptional(v.string()),
        schedule: v.exactOptional(rate),
      }),
    ),
    [],
  ),
})

/** The parts that the local stack reads of a service loaded by osls. */
const service = v.looseObject({
  provider: v.looseObject({ environment }),
  functions: v.record(v.string(), lambda),
})

const reference = v.strictObject({ Ref: v.string() })
const text = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String))

/**
 * Reads a loaded service, with references to its queues and tables resolved to those of the local stack.
 *
 * @param folder holds stores.yml
 * @throws Error naming what the local stack cannot use
 */
export const readService = (loaded: unknown, folder: string, ports: Ports) => {
  const parsed = v.safeParse(service, loaded)
  if (!parsed.success) {
    const [issue] = parsed.issues
    throw new Error(`Cannot use serverless.yml: "${v.getDotPath(issue) ?? ''}" ${issue.message}`)
  }
  const { provider, functions } = parsed.output
  const { ORDERS_TABLE } = provider.environment
  const stack = {
    prefix: '',
    stores: readStores(`${folder}/stores.yml`),
    ...(typeof ORDERS_TABLE === 'string' && { ordersTable: ORDERS_TABLE }),
  }
  const [queues, tables] = [queuesOf(stack), tablesOf(stack)]
  const values = new Map([
    ...queues.map(({ id, name }) => [id, queueUrl(ports.sqs, name)] as const),
    ...tables.map(({ id, name }) => [id, name] as const),
  ])

  const valuesOf = (variables: Record<string, unknown>, where: string) =>
    Object.fromEntries(
      Object.entries(variables).map(([name, value]) => {
        const found = v.is(text, value)
          ? String(value)
          : v.is(reference, value)
            ? values.get(value.Ref)
            : undefined
        if (found !== undefined) return [name, found]
        throw new Error(
          `Cannot resolve ${where}.environment.${name}: ${JSON.stringify(value)} is neither text nor a reference ` +
            'to a queue or table',
        )
      }),
    )

  const entries = Object.entries(functions)
  return {
    queues,
    tables,
    handlers: entries.map(([, { handler }]) => handler),
    /** The environment variables of the provider and of each function, resolved. */
    environment: valuesOf(provider.environment, 'provider'),
    environments: Object.fromEntries(
      entries.map(([key, { environment }]) => [key, valuesOf(environment, `functions.${key}`)]),
    ),
    /** The timeout of each function, in seconds. */
    timeouts: Object.fromEntries(entries.map(([key, { timeout }]) => [key, timeout])),
    /** A route of each function that serves HTTP. */
    routes: entries.flatMap(([, { events }]) => {
      const route = events.find(({ httpApi }) => httpApi !== undefined)?.httpApi
      const [method = '', path = ''] = route?.split(' ') ?? []
      return route === undefined ? [] : [{ method: method === 'ANY' ? 'GET' : method, path }]
    }),
    eventSources: entries.flatMap(([key, { name: functionName, events }]) =>
      events.flatMap(({ sqs }) => {
        if (sqs === undefined) return []
        const [id] = sqs.arn['Fn::GetAtt']
        const queue = queues.find(each => each.id === id)?.name
        if (queue === undefined) throw new Error(`Cannot feed functions.${key}: there is no queue "${id}"`)
        return [
          {
            key,
            functionName,
            queue,
            batchSize: sqs.batchSize,
            reportsFailures: sqs.functionResponseType === 'ReportBatchItemFailures',
            maximumConcurrency: sqs.maximumConcurrency,
          },
        ]
      }),
    ),
    /** The functions that run at an interval, in milliseconds. */
    schedules: entries.flatMap(([key, { name: functionName, events }]) =>
      events.flatMap(({ schedule }) =>
        schedule === undefined ? [] : [{ key, functionName, interval: schedule }],
      ),
    ),
  }
}

export type Service = ReturnType<typeof readService>
