import { alarmResources } from './alarms.ts'
import { ref, secretsPath, sub } from './cloudformation.ts'
import { dashboardResources } from './dashboard.ts'
import { queryResources } from './queries.ts'
import * as queues from './queues.ts'
import { roleResources } from './roles.ts'
import { readStores } from './stores.ts'
import { TABLE_IDS, tableResources, tablesOf } from './tables.ts'

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

const outputs = (stage: string) => {
  const output = (Description: string, Value: unknown) => ({ Description, Value })
  return {
    WebhookUrl: output(
      'Webhook URL to register with the accounting service',
      sub(`\${HttpApi.ApiEndpoint}/webhook`),
    ),
    ApiUrl: output("Base URL of the stores' API", { 'Fn::GetAtt': ['HttpApi', 'ApiEndpoint'] }),
    OrdersQueueUrl: output('Order queue', ref(queues.QUEUE_IDS.orders)),
    OrdersDeadQueueUrl: output('Dead letters of the order queue', ref(queues.QUEUE_IDS.ordersDead)),
    QuarantineQueueUrl: output(
      'Authentic input that is unreadable or contradictory',
      ref(queues.QUEUE_IDS.quarantine),
    ),
    OrdersTableName: output('State of every order', ref(TABLE_IDS.orders)),
    DeliveriesTableName: output('Deliveries that were queued', ref(TABLE_IDS.deliveries)),
    SecretsPath: output('Parameter Store path of the secrets', secretsPath(stage)),
    DashboardUrl: output(
      'CloudWatch dashboard',
      sub(
        `https://\${AWS::Region}.console.aws.amazon.com/cloudwatch/home?region=\${AWS::Region}#dashboards:name=\${Dashboard}`,
      ),
    ),
    AlarmTopicArn: output('Topic that alarms are sent to', ref('AlarmTopic')),
  }
}

/** The CloudFormation resources beside the functions, and the stack's outputs. */
export const resources = async ({ resolveVariable }: Context) => {
  const [name, prefix, email] = await Promise.all(
    ['sls:stage', 'param:prefix', 'param:alarmEmail'].map(resolveVariable),
  )
  const [rate = 0, burst = 0, reserved = 0, feederConcurrency = 0] = await Promise.all(
    ['requestsPerSecond', 'requestsAtOnce', 'endpointConcurrency', 'feederConcurrency'].map(async parameter =>
      Number(await resolveVariable(`param:${parameter}`)),
    ),
  )
  const stack = { stage: String(name), prefix: String(prefix), stores: stores() }
  return {
    Resources: {
      ...tableResources(tablesOf(stack)),
      ...queues.queueResources(stack),
      ...queues.httpFeedResources(stack, feederConcurrency),
      ...roleResources(stack),
      ...alarmResources(stack, String(email)),
      ...dashboardResources(stack),
      ...queryResources(stack),
    },
    Outputs: outputs(stack.stage),
    extensions: { HttpApiStage: stageExtension({ rate, burst }), ...reservedConcurrency(reserved) },
  }
}
