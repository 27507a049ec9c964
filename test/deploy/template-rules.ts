import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'

const resource = v.looseObject({
  Type: v.string(),
  DeletionPolicy: v.optional(v.string()),
  UpdateReplacePolicy: v.optional(v.string()),
  Properties: v.optional(v.looseObject({}), {}),
})
const template = v.pipe(v.string(), v.parseJson(), v.object({ Resources: v.record(v.string(), resource) }))

const list = v.pipe(
  v.union([v.array(v.unknown()), v.unknown()]),
  v.transform(value => (Array.isArray(value) ? value : [value])),
)
const statement = v.looseObject({ Effect: v.string(), Action: list, Resource: v.optional(list, []) })
const role = v.looseObject({
  Policies: v.array(v.looseObject({ PolicyDocument: v.looseObject({ Statement: v.array(statement) }) })),
})
const queue = v.looseObject({ VisibilityTimeout: v.optional(v.number(), 30) })
const lambda = v.looseObject({
  Role: v.object({ 'Fn::GetAtt': v.tuple([v.string(), v.literal('Arn')]) }),
  Timeout: v.number(),
  LoggingConfig: v.optional(v.looseObject({ LogFormat: v.string() })),
  Environment: v.looseObject({ Variables: v.record(v.string(), v.unknown()) }),
})
const route = v.looseObject({ RouteKey: v.string() })
const throttle = v.looseObject({ ThrottlingRateLimit: v.number(), ThrottlingBurstLimit: v.number() })
const stage = v.looseObject({
  DependsOn: v.array(v.string()),
  Properties: v.looseObject({ RouteSettings: v.record(v.string(), throttle) }),
})
const source = v.looseObject({
  /** A queue by its logical id, or, in a nested stack, by its name. */
  EventSourceArn: v.union([
    v.object({ 'Fn::GetAtt': v.tuple([v.string(), v.string()]) }),
    v.object({ 'Fn::Sub': v.string() }),
  ]),
  FunctionName: v.object({ 'Fn::GetAtt': v.tuple([v.string(), v.string()]) }),
  ScalingConfig: v.exactOptional(v.looseObject({ MaximumConcurrency: v.number() })),
})

/** For the endpoints and the scheduled check. */
const FOR_OTHERS = 4

/** Actions that AWS allows on everything or not at all. */
const WITHOUT_RESOURCE = ['xray:PutTraceSegments', 'xray:PutTelemetryRecords']

const nestedStack = v.looseObject({ Parameters: v.record(v.string(), v.unknown()) })
const policy = v.looseObject({ Queues: v.array(v.object({ Ref: v.string() })) })

/** The resources of a stack and its nested stacks, which refer to each other as in one template. */
const allResources = (text: string, nested: Readonly<Record<string, string>>) => {
  const { Resources } = v.parse(template, text)
  return Object.assign(
    { ...Resources },
    ...Object.entries(nested).map(([id, inner]) => {
      const { Parameters } = v.parse(nestedStack, Resources[id]?.Properties)
      const refersTo = (value: unknown) =>
        v.is(v.strictObject({ Ref: v.picklist(Object.keys(Parameters)) }), value)
          ? Parameters[value.Ref]
          : value
      return v.parse(template, JSON.stringify(JSON.parse(inner, (_key, value) => refersTo(value)))).Resources
    }),
  ) as typeof Resources
}

/**
 * Checks the promises of this project, which no linter knows, against a packaged template.
 *
 * @param nested the templates of its nested stacks, by logical id
 * @param executions what the account may run concurrently
 */
export const violations = (
  text: string,
  nested: Readonly<Record<string, string>>,
  executions: number,
): string[] => {
  const Resources = allResources(text, nested)
  const found: string[] = []
  const of = (type: string) => Object.entries(Resources).filter(([, { Type }]) => Type === type)
  const require = (holds: boolean, violation: string) => {
    if (!holds) found.push(violation)
  }

  require(!('IamRoleLambdaExecution' in Resources), 'functions use a shared role: give each its own')

  const roles = of('AWS::Lambda::Function').map(([id, { Properties }]) => {
    const { Role, Environment, LoggingConfig } = v.parse(lambda, Properties)
    require(LoggingConfig?.LogFormat === 'JSON', `${id} does not log in JSON: time-outs would not be found`)
    for (const [name, value] of Object.entries(Environment.Variables)) {
      const isSecret = /secret|password|token|_key$/i.test(name) && name !== 'SECRETS_PATH'
      require(!isSecret, `${id} has ${name}=${JSON.stringify(value)} in its environment: keep it in Parameter Store`)
    }
    return Role['Fn::GetAtt'][0]
  })
  require(new Set(roles).size === roles.length, `functions share a role: ${roles.join(', ')}`)

  const prefix = String(Resources.OrdersQueue?.Properties.QueueName).replace('orders.fifo', '')
  for (const [id, { Properties }] of of('AWS::IAM::Role')) {
    for (const { Action, Resource } of v
      .parse(role, Properties)
      .Policies.flatMap(p => p.PolicyDocument.Statement)) {
      const actions = Action.map(String)
      require(!actions.some(action =>
        action.includes('*'),
      ), `${id} may do ${actions.join(', ')}: name the actions`)
      const isExact =
        !JSON.stringify(Resource).replace(`:${prefix}feed-*.fifo`, '').includes('*') ||
        actions.every(a => WITHOUT_RESOURCE.includes(a))
      require(isExact, `${id} may do ${actions.join(', ')} on ${JSON.stringify(Resource)}: name the resources`)
    }
  }

  const tlsOnly = of('AWS::SQS::QueuePolicy').flatMap(([, { Properties }]) =>
    v.parse(policy, Properties).Queues.map(({ Ref }) => Ref),
  )
  for (const [id, { Properties, UpdateReplacePolicy }] of of('AWS::SQS::Queue')) {
    require(Properties.SqsManagedSseEnabled === true, `the queue ${id} is not encrypted`)
    require(Properties.MessageRetentionPeriod ===
      1209600, `the queue ${id} keeps messages for less than fourteen days`)
    require(UpdateReplacePolicy === 'Retain', `renaming the queue ${id} would delete it with its messages`)
    require(tlsOnly.includes(id), `the queue ${id} has no policy that requires TLS`)
  }
  const queues = of('AWS::SQS::Queue')
  let concurrency = 0
  for (const [id, { Properties }] of of('AWS::Lambda::EventSourceMapping')) {
    const { EventSourceArn, FunctionName, ScalingConfig } = v.parse(source, Properties)
    const isRead = ([
      queueId,
      {
        Properties: { QueueName },
      },
    ]: (typeof queues)[number]) =>
      'Fn::Sub' in EventSourceArn
        ? EventSourceArn['Fn::Sub'].endsWith(`:${QueueName}`)
        : EventSourceArn['Fn::GetAtt'][0] === queueId
    const read = v.parse(queue, queues.find(isRead)?.[1].Properties)
    const timeout = v.parse(lambda, Resources[FunctionName['Fn::GetAtt'][0]]?.Properties).Timeout
    const visibility = read.VisibilityTimeout
    require(visibility >=
      6 * timeout, `${id}: the queue hides messages for ${visibility} s, less than six times ${timeout} s`)
    require('RedrivePolicy' in read, `${id}: the queue has no dead-letter queue`)
    require(ScalingConfig !== undefined, `${id}: the concurrency is not limited`)
    concurrency += ScalingConfig?.MaximumConcurrency ?? 0
  }
  require(concurrency <=
    executions -
      FOR_OTHERS, `queues may use ${concurrency} of the account's ${executions} executions: leave ${FOR_OTHERS}`)

  const { DependsOn, Properties } = v.parse(stage, Resources.HttpApiStage)
  const limits = Properties.RouteSettings
  for (const [id, found] of of('AWS::ApiGatewayV2::Route')) {
    const { RouteKey } = v.parse(route, found.Properties)
    require(RouteKey in limits, `the route ${RouteKey} has no limits of its own`)
    // API Gateway refuses settings of a route that does not exist yet.
    require(DependsOn.includes(id), `the stage may be created before its route ${id}`)
  }
  const { $default, ...known } = limits
  const rates = Object.values(known).map(({ ThrottlingRateLimit }) => ThrottlingRateLimit)
  require(($default?.ThrottlingRateLimit ?? 0) <=
    Math.min(...rates) / 10, 'scanners of unknown paths may send as many requests as stores')

  const orders = Resources.OrdersTable
  require(orders?.DeletionPolicy === 'Retain' &&
    orders.UpdateReplacePolicy === 'Retain' &&
    orders.Properties.DeletionProtectionEnabled === true, 'the orders could be deleted with the stack')
  for (const [id, { Properties }] of of('AWS::Logs::LogGroup')) {
    require('RetentionInDays' in Properties, `the log group ${id} never expires`)
  }
  for (const [id, { Properties }] of of('AWS::CloudWatch::Alarm')) {
    require('AlarmActions' in Properties && 'OKActions' in Properties, `the alarm ${id} has no action`)
  }
  return found
}

/** Files in a function's zip that are not its own code, from the listing of Python's zipfile. */
export const foreignFiles = (name: string, listing: string): string[] => {
  const files = listing
    .split('\n')
    .slice(1)
    .flatMap(line => line.trim().split(/\s{2,}/)[0] || [])
  const own = `functions/${name}.mjs`
  const foreign = files.filter(file => file !== own && !file.endsWith('/') && file !== 'package.json')
  if (!files.includes(own)) return [`${name}.zip has no ${own}, only ${files.join(', ')}`]
  return foreign.map(file => `${name}.zip has ${file}, which is not its own code`)
}

const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`

/** Zips that exceed their budget or have none. */
export const overBudget = async (
  folder: string,
  allowed: Readonly<Record<string, number>>,
): Promise<string[]> => {
  const zips = (await readdir(folder)).filter(name => name.endsWith('.zip'))
  const problems = zips.map(async zip => {
    const { size } = await stat(join(folder, zip))
    const limit = allowed[zip.replace(/\.zip$/, '')]
    if (limit === undefined) return `${zip} has no budget: give it one in deploy/budget.json`
    return size > limit
      ? `${zip} has ${kib(size)}, and its budget is ${kib(limit)} (deploy/budget.json)`
      : undefined
  })
  return (await Promise.all(problems)).filter(problem => problem !== undefined)
}
