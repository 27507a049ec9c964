import { isProbed, PROBE_SOURCE, WEBHOOK_PATH } from '../lib/platform/names.ts'
import { alarmResources } from './alarm-resources.ts'
import { backupResources } from './backup.ts'
import { budgetResources } from './budget.ts'
import {
  arnOf,
  DEFAULT_STAGE,
  type Resources,
  ref,
  type Stack,
  secretsPath,
  stackName,
  sub,
} from './cloudformation.ts'
import { dashboardResources } from './dashboard.ts'
import { queryResources } from './queries.ts'
import * as queues from './queues.ts'
import { roleResources } from './roles.ts'
import { aliasId, isGradual, shiftAlarms, shiftResources } from './shift.ts'
import { readStores } from './stores.ts'
import { DELIVERIES_ID, ordersId, tableResources, tablesOf } from './tables.ts'

/** The argument of a function that provides a value for serverless.yml. */
type Context = { resolveVariable: (name: string) => Promise<string | number> }

/** The parameters of serverless.yml that the resources depend on. */
const PARAMETERS = [
  ...(['prefix', 'ordersTable', 'backupRegion', 'alarmEmail', 'monthlyBudget', 'shift'] as const),
  ...(['domain', 'certificateArn', 'hostedZoneId', 'defaultEndpoint'] as const),
  ...(['requestsPerSecond', 'requestsAtOnce', 'endpointConcurrency', 'feederConcurrency'] as const),
]
type Parameters = Readonly<Record<(typeof PARAMETERS)[number], string>>

const isOffline = () => process.argv.includes('offline')

/** The default stage: the local stack for `serverless offline`, production for any other command. */
export const stage = (): string => (isOffline() ? 'local' : DEFAULT_STAGE)

/** Neither command needs the other's plugins, which take longer to load than everything else. */
export const plugins = (): string[] =>
  isOffline() ? ['./packages/local/plugin.ts', 'serverless-offline'] : ['./deploy/package.ts']

/** Ends osls with a single message instead of a stack trace for each value that needs the stores. */
const stores = () => {
  try {
    return readStores('stores.yml')
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exit(1)
  }
}

/** On AWS, these are in a nested stack. */
export const feederEvents = () => (isOffline() ? queues.feederEvents({ stores: stores() }) : [])

/** A path of the API at its public URL. */
const publicUrl = (domain: string, path: string) =>
  domain === '' ? sub(`\${HttpApi.ApiEndpoint}${path}`) : `https://${domain}${path}`

/** The probe's function, if stores.yml lists its store. Not in the local stack, which has no public URL. */
export const probe = async ({ resolveVariable }: Context) => {
  if (isOffline() || !isProbed(stores())) return null
  const domain = String(await resolveVariable('param:domain'))
  return {
    handler: 'functions/probe.handler',
    description: 'Sends a webhook through the relay and waits for it in a feed',
    role: 'ProbeRole',
    // Ten seconds for the webhook, a minute for its message, and an AWS call before and after it.
    timeout: 90,
    memorySize: 256,
    environment: {
      PROBE_QUEUE_URL: ref(queues.feedQueueId(PROBE_SOURCE)),
      WEBHOOK_URL: publicUrl(domain, WEBHOOK_PATH),
    },
    events: [{ schedule: 'rate(5 minutes)' }],
  }
}

/** The fields of the access log. No user agent or path: paths of the stores' API contain order numbers. */
const ACCESS_LOG = {
  requestId: 'requestId',
  time: 'requestTime',
  route: 'routeKey',
  status: 'status',
  latency: 'responseLatency',
  integrationLatency: 'integrationLatency',
  integrationError: 'integrationErrorMessage',
  bytes: 'responseLength',
}

/** The format of the access log, with the caller's address if the setting `callerAddresses` is `logged`. */
export const accessLogFormat = async ({ resolveVariable }: Context) => {
  const isLogged = (await resolveVariable('param:callerAddresses')) === 'logged'
  const fields = { ...ACCESS_LOG, ...(isLogged && { caller: 'identity.sourceIp' }) }
  const named = Object.entries(fields).map(([name, variable]) => [name, `$context.${variable}`])
  return JSON.stringify(Object.fromEntries(named))
}

/** Requests per second, and burst. */
type Throttle = { rate: number; burst: number }

/** For scanners: neither stores nor the accounting service use the `$default` route. */
const UNKNOWN_PATHS: Throttle = { rate: 5, burst: 10 }

const routeSettings = ({ rate, burst }: Throttle) => ({
  ThrottlingRateLimit: rate,
  ThrottlingBurstLimit: burst,
  DetailedMetricsEnabled: false,
})

/**
 * Limits for each route of the API's stage, so that a flood on one route does not starve the others. They also bound
 * the cost of a flood.
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

const ofDomain = (name: string) => ({ 'Fn::GetAtt': ['Domain', name] })

/** The target of the domain's record, for a CNAME if its zone is not in Route 53. */
const DOMAIN_TARGET = ofDomain('RegionalDomainName')

/** A custom domain, with its record if Route 53 has the zone. */
const domainResources = ({ domain, certificateArn, hostedZoneId }: Parameters): Resources => {
  if (domain === '') return {}
  const configuration = {
    CertificateArn: certificateArn,
    EndpointType: 'REGIONAL',
    SecurityPolicy: 'TLS_1_2',
  }
  const AliasTarget = { DNSName: DOMAIN_TARGET, HostedZoneId: ofDomain('RegionalHostedZoneId') }
  return {
    Domain: {
      Type: 'AWS::ApiGatewayV2::DomainName',
      Properties: { DomainName: domain, DomainNameConfigurations: [configuration] },
    },
    DomainMapping: {
      Type: 'AWS::ApiGatewayV2::ApiMapping',
      Properties: { DomainName: ref('Domain'), ApiId: ref('HttpApi'), Stage: ref('HttpApiStage') },
    },
    ...(hostedZoneId !== '' && {
      DomainRecord: {
        Type: 'AWS::Route53::RecordSet',
        Properties: { HostedZoneId: hostedZoneId, Name: domain, Type: 'A', AliasTarget },
      },
    }),
  }
}

/** With a custom domain, the API's AWS endpoint is disabled, unless it is kept while senders migrate. */
const domainExtension = ({ domain, defaultEndpoint }: Parameters) =>
  domain === ''
    ? {}
    : { HttpApi: { Properties: { DisableExecuteApiEndpoint: defaultEndpoint !== 'enabled' } } }

/** API Gateway gets its permission first: no request may fail while a stack starts or stops using aliases. */
const permissionsFirst = {
  HttpApiIntegrationWebhook: { DependsOn: ['WebhookLambdaPermissionHttpApi'] },
  HttpApiIntegrationApi: { DependsOn: ['ApiLambdaPermissionHttpApi'] },
}

const outputs = (stack: Stack, { domain }: Parameters) => {
  const at = (path: string) => publicUrl(domain, path)
  const console = `https://\${AWS::Region}.console.aws.amazon.com/cloudwatch/home?region=\${AWS::Region}`
  const values: Record<string, [description: string, value: unknown]> = {
    WebhookUrl: ['Webhook URL to register with the accounting service', at(WEBHOOK_PATH)],
    ApiUrl: ["Base URL of the stores' API", at('')],
    ...(domain !== '' && { DomainTarget: ['Target of the record of the domain', DOMAIN_TARGET] }),
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

/** The name of the rule that invokes a function. */
const scheduled = (functionId: string, stage: string) => ({
  [`${functionId}EventsRuleSchedule1`]: {
    Properties: { Name: `${stackName(stage)}-${functionId.toLowerCase()}` },
  },
})

/** The CloudFormation resources other than the functions, and the stack's outputs. */
export const resources = async ({ resolveVariable }: Context) => {
  const textOf = async (name: string) => String(await resolveVariable(name))
  const parameter = async (name: keyof Parameters) => [name, await textOf(`param:${name}`)] as const
  const parameters = Object.fromEntries(await Promise.all(PARAMETERS.map(parameter))) as Parameters
  const { prefix, ordersTable, shift } = parameters
  const stack = { stage: await textOf('sls:stage'), prefix, ordersTable, stores: stores() }
  const feeder = isGradual(shift) ? ref(aliasId('feeder')) : arnOf('FeederLambdaFunction')
  return {
    Resources: {
      ...tableResources(tablesOf(stack)),
      ...queues.queueResources(stack),
      ...queues.httpFeedResources(stack, { feeder, concurrency: Number(parameters.feederConcurrency) }),
      ...roleResources(stack),
      ...alarmResources(stack, parameters.alarmEmail),
      ...backupResources(stack, parameters.backupRegion),
      ...budgetResources(stack, parameters),
      ...dashboardResources(stack, isGradual(shift) ? shiftAlarms : []),
      ...queryResources(stack),
      ...shiftResources(stack, shift),
      ...domainResources(parameters),
    },
    Outputs: outputs(stack, parameters),
    extensions: {
      HttpApiStage: stageExtension({
        rate: Number(parameters.requestsPerSecond),
        burst: Number(parameters.requestsAtOnce),
      }),
      ...reservedConcurrency(Number(parameters.endpointConcurrency)),
      ...domainExtension(parameters),
      ...permissionsFirst,
      // A generated name may be cut off, and would then not match the deployer's policy.
      ...scheduled('Reconcile', stack.stage),
      ...(isProbed(stack.stores) && !isOffline() && scheduled('Probe', stack.stage)),
    },
  }
}
