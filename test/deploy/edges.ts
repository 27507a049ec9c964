import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { WEBHOOK_PATH } from '../../lib/platform/names.ts'
import { SENDER_TIMEOUT_SECONDS } from '../../lib/protocol/webhook.ts'
import { SETTINGS } from './packaged.ts'
import { functionOf, ofType, type Resolved, STACK, STAGE } from './resolve.ts'
import type { Uses } from './use.ts'

const route = v.object({
  ThrottlingRateLimit: v.number(),
  ThrottlingBurstLimit: v.number(),
  DetailedMetricsEnabled: v.boolean(),
})
const group = v.looseObject({
  AlarmConfiguration: v.looseObject({ Enabled: v.boolean() }),
  AutoRollbackConfiguration: v.looseObject({ Enabled: v.boolean(), Events: v.array(v.string()) }),
})
const budget = v.looseObject({
  Budget: v.looseObject({ CostFilters: v.object({ TagKeyValue: v.array(v.string()) }) }),
  NotificationsWithSubscribers: v.array(
    v.looseObject({ Notification: v.looseObject({ ComparisonOperator: v.string() }) }),
  ),
})
const domain = v.looseObject({
  DomainNameConfigurations: v.array(v.looseObject({ SecurityPolicy: v.string() })),
})
const record = v.object({
  Type: v.string(),
  AliasTarget: v.object({ DNSName: v.string(), HostedZoneId: v.string() }),
})
const mapping = v.looseObject({ ScalingConfig: v.object({ MaximumConcurrency: v.number() }) })
const rule = v.looseObject({ ScheduleExpression: v.pipe(v.string(), v.regex(/^rate\(\d+ minutes?\)$/)) })
const listOrMap = v.union([
  v.record(v.string(), v.string()),
  v.pipe(
    v.array(v.object({ Key: v.string(), Value: v.string() })),
    v.transform(tags => Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value]))),
  ),
])

/** What may reveal the sender of a request, except the address that a setting adds, or the order in its path. */
const PERSONAL = /\$context\.(identity(?!\.sourceIp)|path|authorizer)|\$request\./

/** The variables of the access log of an HTTP API; API Gateway writes a hyphen for any other. */
const VARIABLES = RegExp(
  `^(accountId|apiId|awsEndpointRequestId2?|dataProcessed|domainName|domainPrefix|extendedRequestId|httpMethod|path|protocol|
  requestId|requestTime|requestTimeEpoch|responseLatency|responseLength|routeKey|stage|status|authorizer\\.\\w+|
  error\\.(message|messageString|responseType)|identity\\.\\w+|integration\\.(error|integrationStatus|latency|requestId|status)|
  integrationErrorMessage|integrationLatency|integrationStatus)$`.replaceAll(/\s/g, ''),
)

const ROLLED_BACK = ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM', 'DEPLOYMENT_STOP_ON_REQUEST']

/** Relations of the endpoints, the domain, triggers and roll-backs. */
export function* edgeViolations(template: Resolved, uses: Uses) {
  const [stage] = ofType(template, 'AWS::ApiGatewayV2::Stage')
  const { $default: unknown, ...known } = v.parse(
    v.record(v.string(), route),
    stage?.Properties.RouteSettings ?? {},
  )
  for (const { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } of Object.values(known))
    if (rate !== SETTINGS.requestsPerSecond || burst !== SETTINGS.requestsAtOnce)
      yield `a route accepts ${rate} requests a second and ${burst} at once`
  for (const each of Object.values(known))
    if (
      unknown === undefined ||
      unknown.ThrottlingRateLimit > each.ThrottlingRateLimit / 10 ||
      unknown.ThrottlingBurstLimit > each.ThrottlingBurstLimit / 10
    )
      yield 'the default route, which only scanners use, takes more than a tenth of the requests of others'
  if (Object.values({ ...known, unknown }).some(each => each?.DetailedMetricsEnabled))
    yield 'a route has detailed metrics, which docs/cost.md does not price'
  if (PERSONAL.test(stage?.Properties.AccessLogSettings?.Format ?? ''))
    yield 'the access log contains an address or a path'
  for (const [, name = ''] of (stage?.Properties.AccessLogSettings?.Format ?? '').matchAll(
    /\$context\.([\w.]+)/g,
  ))
    if (!VARIABLES.test(name)) yield `the access log contains ${name}, which API Gateway does not know`
  if (!(functionOf(template, 'webhook').Properties.Timeout < SENDER_TIMEOUT_SECONDS))
    yield 'webhook: ends after the accounting service stops waiting'
  const { WebhookUrl, ApiUrl } = template.outputs
  for (const [name, value] of Object.entries(template.outputs)) {
    const named = template.resources.find(({ id, type }) =>
      [`${id}Name`, `${id}Arn`, `${id}Id`, ...(type.endsWith('::Queue') ? [`${id}Url`] : [])].includes(name),
    )
    if (named !== undefined && named.ref !== value) yield `Outputs: ${name} is ${value}`
  }
  const isDomain = ofType(template, 'AWS::ApiGatewayV2::DomainName').length > 0
  for (const { id, Properties } of ofType(template, 'AWS::ApiGatewayV2::Api'))
    if ((Properties.DisableExecuteApiEndpoint === true) !== isDomain)
      yield `${id}: its AWS endpoint is ${isDomain ? 'enabled beside' : 'disabled without'} a domain`
  if (WebhookUrl !== `${ApiUrl}${WEBHOOK_PATH}`) yield 'Outputs: WebhookUrl and ApiUrl differ in their base'

  const [{ ref: name, Properties: own } = { ref: '', Properties: {} }] = ofType(
    template,
    'AWS::ApiGatewayV2::DomainName',
  )
  for (const { SecurityPolicy } of v.parse(domain, own).DomainNameConfigurations)
    if (!/^TLS_1_[2-9]/.test(SecurityPolicy)) yield `the domain accepts ${SecurityPolicy}`
  const target = { DNSName: `${name}#RegionalDomainName`, HostedZoneId: `${name}#RegionalHostedZoneId` }
  for (const { id, Properties } of ofType(template, 'AWS::Route53::RecordSet'))
    if (!isDeepStrictEqual(v.parse(record, Properties), { Type: 'A', AliasTarget: target }))
      yield `${id}: does not point to the domain`
  if (template.outputs.DomainTarget !== target.DNSName)
    yield `Outputs: DomainTarget is ${template.outputs.DomainTarget}`

  const feeds = new RegExp(`:${STACK}-feed-[^:]*$`)
  const ofRelay = uses.worker.calls.flatMap(({ action, resource }) => (feeds.test(resource) ? action : []))
  for (const { id, Properties } of ofType(template, 'AWS::SQS::QueuePolicy'))
    for (const { Effect, Action } of Properties.PolicyDocument?.Statement ?? [])
      if (Effect === 'Allow' && Action.some(each => ofRelay.includes(each)))
        yield `${id}: lets consumers do what only the worker does`
  for (const { id, Properties } of ofType(template, 'AWS::Lambda::EventSourceMapping'))
    if (!v.is(mapping, Properties)) yield `${id}: may use the concurrency of the whole account`

  for (const { id, Properties } of ofType(template, 'AWS::Events::Rule')) {
    const { ScheduleExpression } = v.parse(rule, Properties)
    const targets = Properties.Targets.map(({ Arn }) => Arn)
    const watching = ofType(template, 'AWS::CloudWatch::Alarm').filter(
      ({ Properties: { MetricName, Dimensions, TreatMissingData } }) =>
        TreatMissingData === 'breaching' &&
        targets.some(target =>
          MetricName === 'ProbeSeen'
            ? target === functionOf(template, 'probe').arn
            : MetricName === 'Invocations' && target.endsWith(`:${Dimensions[0]?.Value}`),
        ),
    )
    const seconds = Number(/\d+/.exec(ScheduleExpression)) * 60
    if (!watching.some(alarm => seconds < alarm.Properties.Period))
      yield `${id}: no alarm reports that it stopped, or one reports that it runs`
  }
  for (const { id, Properties } of ofType(template, 'AWS::CodeDeploy::DeploymentGroup')) {
    const { AlarmConfiguration, AutoRollbackConfiguration } = v.parse(group, Properties)
    const { Enabled, Events } = AutoRollbackConfiguration
    if (!(AlarmConfiguration.Enabled && Enabled && ROLLED_BACK.every(each => Events.includes(each))))
      yield `${id}: no alarm rolls it back`
  }
  for (const { id, Properties } of ofType(template, 'AWS::Budgets::Budget')) {
    const { Budget, NotificationsWithSubscribers } = v.parse(budget, Properties)
    if (!Budget.CostFilters.TagKeyValue.every(each => each === `user:stage$${STAGE}`))
      yield `${id}: counts other costs than those with the tag of the stage`
    for (const { Notification } of NotificationsWithSubscribers)
      if (Notification.ComparisonOperator !== 'GREATER_THAN') yield `${id}: mails while the costs are low`
  }
  for (const { id, Properties } of template.resources) {
    const tags = v.safeParse(listOrMap, Properties.Tags)
    // The deployer's policy depends on both.
    if (tags.success && (tags.output.project !== 'order-relay' || tags.output.stage !== STAGE))
      yield `${id}: is not tagged with the project and the stage`
  }
}
