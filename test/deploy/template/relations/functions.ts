import { unzipSync } from 'fflate'
import { MAX_WAIT, RESERVED_MS } from '../../../../lib/api/serve.ts'
import { VARIABLES } from '../../../../lib/platform/environment.ts'
import { PATIENCE_MS } from '../../../../lib/probe/handler.ts'
import { SENDER_TIMEOUT_SECONDS } from '../../../../lib/protocol/webhook.ts'
import { LAST_CHECK_MS } from '../../../../lib/reconcile/handler.ts'
import { LIMITS } from '../../../../proofs/crash/functions.ts'
import type { Checked } from '../checked.ts'
import { OPTIONS, SETTINGS } from '../packaged.ts'
import { aliasOf, arn, FUNCTIONS, type FunctionName, functionOf, idOf, ofType, STACK } from '../resolve.ts'

const GIVEN = new Map<string, unknown>(Object.entries({ ...SETTINGS, ...OPTIONS }))

/** A function has the variables that it reads, with the values of the deployment's settings, and no others. */
export function* variables({ resolved: template, recording: { uses } }: Checked) {
  const settings = new Map<string, string>(
    Object.entries(VARIABLES).map(([setting, variable]) => [variable, setting]),
  )
  for (const name of FUNCTIONS) {
    const { Variables } = functionOf(template, name).Properties.Environment
    const { POWERTOOLS_SERVICE_NAME: service, ...given } = Variables
    if (service !== STACK) yield `${name}: counts its metrics for ${service}, but alarms watch ${STACK}`
    for (const variable of uses[name].variables)
      if (!given[variable]) yield `${name}: reads ${variable}, which its environment lacks`
    for (const [variable, value] of Object.entries(given)) {
      const setting = settings.get(variable)
      // Could change the behavior, such as `NODE_OPTIONS`, or contain a secret.
      if (setting === undefined) yield `${name}: has ${variable}, which no function reads`
      else if (value !== String(GIVEN.get(setting) ?? value))
        yield `${name}: ${variable} is ${value}, but the setting ${setting} is ${GIVEN.get(setting)}`
    }
  }
}

/** A function has its own role, log group and code, which Lambda loads as a module. */
export function* ownParts({ resolved: template, zips }: Checked) {
  const logs = ofType(template, 'AWS::Logs::LogGroup').map(({ name }) => name)
  for (const name of FUNCTIONS) {
    const { Handler, Role } = functionOf(template, name).Properties
    if (!logs.includes(`/aws/lambda/${STACK}-${name}`)) yield `${name}: has no log group`
    if (!Role.includes(`-${idOf(name)}Role-`)) yield `${name}: has the role ${Role} of another function`
    // Without a package.json, Lambda only loads `.mjs` files as ES modules, which allow top-level `await`.
    const file = `functions/${name}.mjs`
    if (
      `${Handler.split('.')[0]}.mjs` !== file ||
      String(Object.keys(unzipSync(zips[name] ?? new Uint8Array()))) !== file
    )
      yield `${name}: its zip does not contain exactly ${file}`
  }
}

/** How long a function needs at least, in milliseconds: its wait, and a call to AWS before and after it. */
const NEEDED: Readonly<Partial<Record<FunctionName, number>>> = {
  api: MAX_WAIT * 1000 + 2 * RESERVED_MS,
  probe: SENDER_TIMEOUT_SECONDS * 1000 + PATIENCE_MS + 2 * RESERVED_MS,
}

/** The timeouts of functions in the crash harness, in seconds. */
const PROVED: Readonly<Partial<Record<FunctionName, number>>> = {
  worker: LIMITS.orders.timeout / 1000,
  feeder: LIMITS.webFeed.timeout / 1000,
}

/** A function ends before its caller stops waiting, and after its own longest wait. */
export function* timeouts({ resolved: template }: Checked) {
  const secondsOf = (name: FunctionName) => functionOf(template, name).Properties.Timeout
  for (const name of FUNCTIONS) {
    const seconds = secondsOf(name)
    const [needed, proved] = [NEEDED[name], PROVED[name]]
    if (needed !== undefined && seconds * 1000 < needed)
      yield `${name}: times out after ${seconds} s and needs ${needed / 1000} s`
    if (proved !== undefined && seconds !== proved)
      yield `${name}: times out after ${seconds} s, but the crash harness proves it with ${proved} s`
  }
  if (secondsOf('webhook') >= SENDER_TIMEOUT_SECONDS)
    yield `webhook: times out after the accounting service, which waits ${SENDER_TIMEOUT_SECONDS} s`
  for (const { id, Properties } of ofType(template, 'AWS::ApiGatewayV2::Integration')) {
    const name = FUNCTIONS.find(each => aliasOf(template, each).arn === Properties.IntegrationUri)
    if (name === undefined || secondsOf(name) * 1000 >= Properties.TimeoutInMillis)
      yield `${id}: API Gateway stops waiting before ${name ?? 'an unknown function'} ends`
  }
  for (const { id, Properties } of ofType(template, 'AWS::Events::Rule')) {
    if (Properties.Targets[0]?.Arn !== functionOf(template, 'reconcile').arn) continue
    const minutes = Number(/\d+/.exec(Properties.ScheduleExpression))
    if (secondsOf('reconcile') * 1000 !== minutes * 60_000 + LAST_CHECK_MS)
      yield `${id}: a run of reconcile does not end just after the next one begins`
  }
}

/** API Gateway and EventBridge may invoke the functions of their routes and schedules. */
export function* triggers({ resolved: template }: Checked) {
  const permissions = ofType(template, 'AWS::Lambda::Permission').map(
    ({ Properties: { FunctionName, Principal, SourceArn, Action } }) =>
      `${Action} ${FunctionName} ${Principal} ${SourceArn}`,
  )
  const mayInvoke = (service: string, source: string, target = '') =>
    permissions.includes(`lambda:InvokeFunction ${target} ${service}.amazonaws.com ${source}`)
  for (const { id, Properties } of ofType(template, 'AWS::ApiGatewayV2::Route')) {
    const { Target, ApiId } = Properties
    const integration = template.resources.find(({ ref }) => `integrations/${ref}` === Target)
    if (!mayInvoke('apigateway', arn('execute-api', `${ApiId}/*`), integration?.Properties.IntegrationUri))
      yield `${id}: API Gateway may not invoke its function`
  }
  for (const { id, arn, Properties } of ofType(template, 'AWS::Events::Rule'))
    for (const { Arn } of Properties.Targets)
      if (!mayInvoke('events', arn, Arn)) yield `${id}: EventBridge may not invoke ${Arn}`
}

/** Each route has a limit, and each limit a route. */
export function* routeLimits({ resolved: template }: Checked) {
  const routes = ofType(template, 'AWS::ApiGatewayV2::Route').map(({ Properties }) => Properties.RouteKey)
  for (const { Properties } of ofType(template, 'AWS::ApiGatewayV2::Stage')) {
    const limited = Object.keys(Properties.RouteSettings)
    for (const route of routes) if (!limited.includes(route)) yield `${route}: the route has no limit`
    for (const route of limited) if (!routes.includes(route)) yield `${route}: the limit has no route`
  }
}
