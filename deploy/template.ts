import { alarmResources } from './alarm-resources.ts'
import { arnOf, ref, type Stack, secretsPath, sub } from './cloudformation.ts'
import { dashboardResources } from './dashboard.ts'
import { DOMAIN_TARGET, type Domain, domainResources } from './domain.ts'
import { queryResources } from './queries.ts'
import * as queues from './queues.ts'
import { roleResources } from './roles.ts'
import { aliasId, isGradual, shiftResources } from './shift.ts'
import { readStores } from './stores.ts'
import { DELIVERIES_ID, ordersId, tableResources, tablesOf } from './tables.ts'

/** What osls passes to a function that provides a value of serverless.yml. */
type Context = { resolveVariable: (name: string) => Promise<string | number> }

const isOffline = () => process.argv.includes('offline')

/** `serverless offline` without --stage is the local stack, any other command production. */
export const stage = (): string => (isOffline() ? 'local' : 'production')

/** Neither command needs the other's plugins, and loading them takes longer than everything else. */
export const plugins = (): string[] =>
  isOffline() ? ['./local/plugin.ts', 'serverless-offline'] : ['./deploy/package.ts']

/** Ends osls with one message: it would print a stack trace for each value that needs the stores. */
const stores = () => {
  try {
    return readStores('stores.yml')
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exit(1)
  }
}

/** On AWS they are in a nested stack. */
export const feederEvents = () => (isOffline() ? queues.feederEvents({ stores: stores() }) : [])

/** Requests a second, and at once after a pause. */
type Throttle = { rate: number; burst: number }

/** For scanners: the `$default` route carries nothing that a store or the accounting service sends. */
const UNKNOWN_PATHS: Throttle = { rate: 5, burst: 10 }

const routeSettings = ({ rate, burst }: Throttle) => ({
  ThrottlingRateLimit: rate,
  ThrottlingBurstLimit: burst,
  DetailedMetricsEnabled: false,
})

/**
 * Limits for each route of the API's stage, so that a flood of one does not take the share of another. They also
 * bound the cost of a flood.
 */
const stageExtension = (throttle: Throttle) => ({
  // API Gateway refuses settings of a route that does not exist yet.
  DependsOn: ['HttpApiRoutePostWebhook', 'HttpApiRouteAnyApiV1ProxyVar', 'HttpApiRouteDefault'],
  Properties: {
    DefaultRouteSettings: routeSettings(throttle),
    RouteSettings: {
      'POST /webhook': routeSettings(throttle),
      'ANY /api/v1/{proxy+}': routeSettings(throttle),
      $default: routeSettings(UNKNOWN_PATHS),
    },
  },
})

/** Concurrency reserved for each endpoint, if any: an account with a small quota cannot reserve any. */
const reservedConcurrency = (executions: number) => {
  if (executions === 0) return {}
  const reserved = { Properties: { ReservedConcurrentExecutions: executions } }
  return { WebhookLambdaFunction: reserved, ApiLambdaFunction: reserved }
}

/** With a domain of its own, the API's address at AWS answers nothing, unless it is kept while senders move. */
const domainExtension = ({ name }: Domain, defaultEndpoint: string) =>
  name === '' ? {} : { HttpApi: { Properties: { DisableExecuteApiEndpoint: defaultEndpoint !== 'enabled' } } }

/** API Gateway has its permission first: when a stack changes to aliases or from them, no request must fail. */
const permissionsFirst = {
  HttpApiIntegrationWebhook: { DependsOn: ['WebhookLambdaPermissionHttpApi'] },
  HttpApiIntegrationApi: { DependsOn: ['ApiLambdaPermissionHttpApi'] },
}

const outputs = (stack: Stack, { name: domain }: Domain) => {
  const at = (path: string) =>
    domain === '' ? sub(`\${HttpApi.ApiEndpoint}${path}`) : `https://${domain}${path}`
  const console = `https://\${AWS::Region}.console.aws.amazon.com/cloudwatch/home?region=\${AWS::Region}`
  const values: Record<string, [description: string, value: unknown]> = {
    WebhookUrl: ['Webhook URL to register with the accounting service', at('/webhook')],
    ApiUrl: ["Base URL of the stores' API", at('')],
    ...(domain !== '' && { DomainTarget: ['Where the record of the domain points', DOMAIN_TARGET] }),
    OrdersQueueUrl: ['Order queue', ref(queues.QUEUE_IDS.orders)],
    OrdersDeadQueueUrl: ['Dead letters of the order queue', ref(queues.QUEUE_IDS.ordersDead)],
    QuarantineQueueUrl: ['Unreadable or contradictory authentic input', ref(queues.QUEUE_IDS.quarantine)],
    OrdersTableName: ['State of every order', ref(ordersId(stack))],
    DeliveriesTableName: ['Deliveries that were queued', ref(DELIVERIES_ID)],
    SecretsPath: ['Parameter Store path of the secrets', secretsPath(stack.stage)],
    DashboardUrl: ['CloudWatch dashboard', sub(`${console}#dashboards:name=\${Dashboard}`)],
    AlarmTopicArn: ['Topic that alarms are sent to', ref('AlarmTopic')],
  }
  return Object.fromEntries(
    Object.entries(values).map(([name, [Description, Value]]) => [name, { Description, Value }]),
  )
}

/** The parameters of serverless.yml that the resources depend on. */
const TEXTS = [
  'prefix',
  'ordersTable',
  'alarmEmail',
  'shift',
  'domain',
  'certificateArn',
  'hostedZoneId',
  'defaultEndpoint',
] as const
const NUMBERS = ['requestsPerSecond', 'requestsAtOnce', 'endpointConcurrency', 'feederConcurrency'] as const

const resolve = async <const Name extends string, Value>(
  names: readonly Name[],
  value: (name: Name) => Promise<Value>,
): Promise<Record<Name, Value>> =>
  Object.fromEntries(await Promise.all(names.map(async name => [name, await value(name)])))

/** The CloudFormation resources beside the functions, and the stack's outputs. */
export const resources = async ({ resolveVariable }: Context) => {
  const stage = String(await resolveVariable('sls:stage'))
  const texts = await resolve(TEXTS, async name => String(await resolveVariable(`param:${name}`)))
  const numbers = await resolve(NUMBERS, async name => Number(await resolveVariable(`param:${name}`)))
  const { prefix, ordersTable, shift } = texts
  const stack = { stage, prefix, ordersTable, stores: stores() }
  const domain = {
    name: texts.domain,
    certificateArn: texts.certificateArn,
    hostedZoneId: texts.hostedZoneId,
  }
  const feeder = isGradual(shift) ? ref(aliasId('feeder')) : arnOf('FeederLambdaFunction')
  return {
    Resources: {
      ...tableResources(tablesOf(stack)),
      ...queues.queueResources(stack),
      ...queues.httpFeedResources(stack, { feeder, concurrency: numbers.feederConcurrency }),
      ...roleResources(stack),
      ...alarmResources(stack, texts.alarmEmail),
      ...dashboardResources(stack),
      ...queryResources(stack),
      ...shiftResources(stack, shift),
      ...domainResources(domain),
    },
    Outputs: outputs(stack, domain),
    extensions: {
      HttpApiStage: stageExtension({ rate: numbers.requestsPerSecond, burst: numbers.requestsAtOnce }),
      ...reservedConcurrency(numbers.endpointConcurrency),
      ...domainExtension(domain, texts.defaultEndpoint),
      ...permissionsFirst,
    },
  }
}
