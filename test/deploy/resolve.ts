import { isDeepStrictEqual } from 'node:util'
import type { Template } from './packaged.ts'

export const ACCOUNT = '123456789012'
const REGION = 'eu-central-1'

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::AccountId': ACCOUNT,
  'AWS::Region': REGION,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
}

export const arn = (service: string, resource: string) =>
  `arn:aws:${service}:${service === 'iam' ? '' : REGION}:${ACCOUNT}:${resource}`

export const queueUrl = (name: string) => `https://sqs.${REGION}.amazonaws.com/${ACCOUNT}/${name}`

type Ids = { ref: string; arn: string }

/** The property that names a resource of a type, its service, and its resource in an ARN; most are known by that name. */
const NAMED: Readonly<
  Record<string, readonly [property: string, service: string, resource: (name: string) => string]>
> = {
  'AWS::SQS::Queue': ['QueueName', 'sqs', name => name],
  'AWS::DynamoDB::Table': ['TableName', 'dynamodb', name => `table/${name}`],
  'AWS::Lambda::Function': ['FunctionName', 'lambda', name => `function:${name}`],
  'AWS::Logs::LogGroup': ['LogGroupName', 'logs', name => `log-group:${name}:*`],
  'AWS::SNS::Topic': ['TopicName', 'sns', name => name],
  'AWS::ApiGatewayV2::DomainName': ['DomainName', 'apigateway', name => name],
}

/** What `Ref` and `Fn::GetAtt … Arn` give for a resource. */
const idsOf = (id: string, { Resources }: Template): Ids => {
  const propertiesOf = (of: string): Record<string, unknown> => Resources[of]?.Properties ?? {}
  const Type = Resources[id]?.Type ?? ''
  if (Type === 'AWS::KMS::Key') return { ref: id, arn: arn('kms', `key/${id}`) }
  if (Type === 'AWS::IAM::Role') return { ref: id, arn: arn('iam', `role/${id}`) }
  if (Type === 'AWS::Lambda::Alias') {
    const { FunctionName } = propertiesOf(id.replace('LiveAlias', 'LambdaFunction'))
    const own = arn('lambda', `function:${FunctionName}:${propertiesOf(id).Name}`)
    return { ref: own, arn: own }
  }
  const [property, service = '', resource] = NAMED[Type] ?? []
  if (property === undefined || resource === undefined) return { ref: id, arn: arn(Type, id) }
  const name = String(propertiesOf(id)[property])
  const own = arn(service, resource(name))
  const refs: Readonly<Record<string, string>> = { 'AWS::SQS::Queue': queueUrl(name), 'AWS::SNS::Topic': own }
  return { ref: refs[Type] ?? name, arn: own }
}

const namesOf = (template: Template) =>
  Object.fromEntries(Object.keys(template.Resources).map(id => [id, idsOf(id, template)]))

/** Replaces references to resources by their names and ARNs. @throws when there is no such resource */
const resolver = (known: Readonly<Record<string, Ids>>) => {
  const ids = (id: string): Ids => {
    const found = known[id]
    if (found === undefined) throw new Error(`Cannot refer to ${id}: there is no such resource`)
    return found
  }
  const ref = (id: string) => PSEUDO[id] ?? ids(id).ref
  const attribute = (id: string, name: string) => {
    if (name === 'Arn') return ids(id).arn
    if (name === 'QueueName') return ids(id).ref.slice(ids(id).ref.lastIndexOf('/') + 1)
    return `${ids(id).ref}.${name}`
  }
  const call = (name: string, argument: unknown): unknown => {
    const parts = Array.isArray(argument) ? argument : []
    if (name === 'Ref') return ref(String(argument))
    if (name === 'Fn::GetAtt') return attribute(String(parts[0]), String(parts[1]))
    if (name === 'Fn::Join') return (plain(parts[1]) as unknown[]).join(String(parts[0]))
    if (name === 'Fn::Sub')
      return String(argument).replace(/\$\{([^}]+)\}/g, (_, path: string) => {
        const [id = '', property] = path.split('.')
        return property === undefined ? ref(id) : attribute(id, property)
      })
    throw new Error(`Cannot resolve ${name}: it is not known`)
  }
  const plain = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(plain)
    const copy: Record<string, unknown> = {}
    for (const [key, each] of Object.entries(value)) {
      if (key === 'Ref' || key.startsWith('Fn::')) return call(key, each)
      copy[key] = plain(each)
    }
    return copy
  }
  return plain
}

/**
 * The template as CloudFormation would deploy it, with names and ARNs in place of references.
 *
 * @throws when something refers to what does not exist
 */
export const resolved = (template: Template): Template => resolver(namesOf(template))(template) as Template

/**
 * As {@link resolved}, for copies of a template that are changed in one place.
 *
 * @returns takes the logical id of the resource that is changed, or `Outputs`, and the copy
 */
export const incrementally = (template: Template): ((id: string, mutant: Template) => Template) => {
  const whole = resolved(template)
  const names = namesOf(template)
  const plain = resolver(names)
  return (id, mutant) => {
    if (id === 'Outputs') return { ...whole, Outputs: plain(mutant.Outputs) as Template['Outputs'] }
    const resource = mutant.Resources[id]
    const isRenamed = [id, id.replace('LambdaFunction', 'LiveAlias')].some(
      each => !isDeepStrictEqual(each in mutant.Resources ? idsOf(each, mutant) : undefined, names[each]),
    )
    if (isRenamed || resource === undefined) return resolved(mutant)
    const properties = plain(resource) as Template['Resources'][string]
    return { ...whole, Resources: { ...whole.Resources, [id]: properties } }
  }
}
