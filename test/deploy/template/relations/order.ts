import type { Checked } from '../checked.ts'
import { ofType, type Resolved } from '../resolve.ts'

/** The resources that must exist before another one, as pairs of logical ids. */
function* pairs(template: Resolved): Generator<[later: string, earlier: string | undefined]> {
  const idOf = (type: string, name: string) => ofType(template, type).find(each => each.name === name)?.id
  // Otherwise, Lambda creates the log group, without retention.
  for (const { id, name } of ofType(template, 'AWS::Lambda::Function'))
    yield [id, idOf('AWS::Logs::LogGroup', `/aws/lambda/${name}`)]
  // Their ARNs name the alias without a reference to it.
  for (const { id, type, Properties } of template.resources) {
    if (!/::(Integration|EventSourceMapping)$/.test(type)) continue
    const target = Properties.IntegrationUri || Properties.FunctionName
    const alias = ofType(template, 'AWS::Lambda::Alias').find(({ arn }) => arn === target)
    if (alias !== undefined) yield [id, alias.id]
    // No request may fail while a stack starts or stops using aliases.
    const permission = ofType(template, 'AWS::Lambda::Permission').find(
      each => each.Properties.FunctionName === target,
    )
    if (type.endsWith('::Integration')) yield [id, permission?.id]
  }
  // API Gateway refuses settings of a route that does not exist yet.
  for (const stage of ofType(template, 'AWS::ApiGatewayV2::Stage'))
    for (const { id } of ofType(template, 'AWS::ApiGatewayV2::Route')) yield [stage.id, id]
  for (const { id, Properties } of ofType(template, 'AWS::CodeDeploy::DeploymentGroup'))
    for (const { Name } of Properties.AlarmConfiguration?.Alarms ?? [])
      yield [id, idOf('AWS::CloudWatch::Alarm', Name)]
  // Nested stacks name the queues of feeds without a reference to them.
  const ids = new Set(template.resources.map(({ id }) => id))
  for (const { id } of ofType(template, 'AWS::SQS::Queue')) {
    if (ids.has(`${id}Policy`)) yield ['FeedConsumers', id]
    if (ids.has(`${id}Source`)) yield ['HttpFeeds', id]
  }
}

/** CloudFormation creates a resource after the ones on which it depends, even if it names them without a reference. */
export function* creationOrder({ resolved, template }: Checked) {
  for (const [later, earlier] of pairs(resolved))
    if (!JSON.stringify(template.Resources[later]).includes(`"${earlier}"`))
      yield `${later}: may be created before ${earlier}; add it to DependsOn`
}
