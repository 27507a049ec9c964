import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { FUNCTIONS, functionOf, ofType, type Resolved, STACK } from './resolve.ts'
import type { Template } from './template-schema.ts'

const code = v.looseObject({ Code: v.looseObject({ S3Key: v.string() }) })
const selection = v.looseObject({ BackupSelection: v.looseObject({ IamRoleArn: v.string() }) })
const style = v.looseObject({ DeploymentStyle: v.looseObject({ DeploymentOption: v.string() }) })

/** The resources that must exist before another one, as pairs of logical ids. */
function* orders(template: Resolved): Generator<[later: string, earlier: string | undefined]> {
  const idOf = (type: string, name: string) => ofType(template, type).find(each => each.name === name)?.id
  // Otherwise, Lambda creates the log group, without retention.
  for (const { id, name } of ofType(template, 'AWS::Lambda::Function'))
    yield [id, idOf('AWS::Logs::LogGroup', `/aws/lambda/${name}`)]
  // Their ARNs name the alias without a reference to it.
  for (const { id, type, Properties } of template.resources) {
    const target = /::Integration$/.test(type) ? Properties.IntegrationUri : Properties.FunctionName
    if (!/::(Integration|EventSourceMapping)$/.test(type)) continue
    const alias = ofType(template, 'AWS::Lambda::Alias').find(({ arn }) => arn === target)
    if (alias !== undefined) yield [id, alias.id]
    // No request may fail while a stack starts or stops using aliases.
    if (/::Integration$/.test(type))
      yield [
        id,
        template.resources.find(
          each => each.type === 'AWS::Lambda::Permission' && each.Properties.FunctionName === target,
        )?.id,
      ]
  }
  for (const { id, Properties } of ofType(template, 'AWS::CodeDeploy::DeploymentGroup'))
    for (const { Name } of Properties.AlarmConfiguration?.Alarms ?? [])
      yield [id, idOf('AWS::CloudWatch::Alarm', Name)]
  // Those of nested stacks name their queues without a reference to them.
  for (const queue of ofType(template, 'AWS::SQS::Queue')) {
    if (template.resources.some(({ id }) => id === `${queue.id}Policy`)) yield ['FeedConsumers', queue.id]
    if (template.resources.some(({ id }) => id === `${queue.id}Source`)) yield ['HttpFeeds', queue.id]
  }
  for (const { id } of ofType(template, 'AWS::Lambda::Alias')) yield [id, 'Shift']
}

/** A function's alias has its own version, which its own deployment group shifts and its own alarm watches. */
function* aliasViolations(template: Resolved) {
  for (const { id, Properties, UpdatePolicy } of ofType(template, 'AWS::Lambda::Alias')) {
    const { FunctionName, FunctionVersion } = Properties
    const version = ofType(template, 'AWS::Lambda::Version').find(
      ({ ref }) => `${ref}#Version` === FunctionVersion,
    )
    if (version?.Properties.FunctionName !== FunctionName) yield `${id}: has a version of another function`
    const { DeploymentGroupName } = UpdatePolicy.CodeDeployLambdaAliasUpdate
    const group = ofType(template, 'AWS::CodeDeploy::DeploymentGroup').find(
      ({ name }) => name === DeploymentGroupName,
    )
    const alarms = group?.Properties.AlarmConfiguration?.Alarms.map(({ Name }) => Name)
    const watched = ofType(template, 'AWS::CloudWatch::Alarm')
      .filter(({ name }) => alarms?.includes(name))
      .flatMap(({ Properties: { Metrics } }) =>
        Metrics.flatMap(each => each.MetricStat?.Metric.Dimensions ?? []),
      )
      .filter(({ Name }) => Name === 'FunctionName')
    if (watched.length === 0 || watched.some(({ Value }) => Value !== FunctionName))
      yield `${id}: its shift is judged by ${watched[0]?.Value}`
  }
  for (const { id, Properties } of ofType(template, 'AWS::CodeDeploy::DeploymentGroup'))
    if (v.parse(style, Properties).DeploymentStyle.DeploymentOption !== 'WITH_TRAFFIC_CONTROL')
      yield `${id}: shifts no traffic`
}

const FUNCTIONS_OF_MATH = /^(IF|FILL|SUM|METRICS|AND|OR|REPEAT)$/

/** Every metric of an alarm's expressions exists, and every metric of the alarm is in an expression. */
function* mathViolations(template: Resolved) {
  for (const { id, Properties } of ofType(template, 'AWS::CloudWatch::Alarm')) {
    const ids = Properties.Metrics.map(({ Id }) => Id)
    const expressions = Properties.Metrics.map(({ Expression }) => Expression).join(' ')
    const named = [...expressions.matchAll(/\b[A-Za-z]\w*/g)].map(([name]) => name)
    for (const name of named)
      if (!ids.includes(name) && !FUNCTIONS_OF_MATH.test(name)) yield `${id}: has no metric ${name}`
    if (named.includes('METRICS')) continue
    for (const { Id, ReturnData } of Properties.Metrics)
      if (!ReturnData && !named.includes(Id)) yield `${id}: no expression has ${Id}`
  }
}

/** Parts that belong together: code and function, version and alias, alarm and metrics, and their order. */
export function* wiringViolations(template: Resolved, { Resources }: Template) {
  for (const name of FUNCTIONS) {
    const { Properties } = functionOf(template, name)
    if (!v.parse(code, Properties).Code.S3Key.endsWith(`/${name}.zip`))
      yield `${name}: has the code of another`
    const [file = '', exported = ''] = Properties.Handler.split('.')
    if (file !== `functions/${name}` || !readFileSync(`${file}.ts`, 'utf8').includes(`const ${exported} =`))
      yield `${name}: its code exports no ${Properties.Handler}`
  }
  for (const [later, earlier] of orders(template))
    if (!JSON.stringify(Resources[later]).includes(`"${earlier}"`))
      yield `${later}: may be created before ${earlier}`
  yield* aliasViolations(template)
  yield* mathViolations(template)
  for (const { id, Properties } of ofType(template, 'AWS::Backup::BackupSelection')) {
    const { IamRoleArn } = v.parse(selection, Properties).BackupSelection
    if (!IamRoleArn.includes(`/${STACK}-BackupRole-`)) yield `${id}: backs up as ${IamRoleArn}`
  }
  // The public URLs have no stage.
  for (const { id, Properties } of ofType(template, 'AWS::ApiGatewayV2::Stage'))
    if (Properties.StageName !== '$default') yield `${id}: is below /${Properties.StageName}`
}
