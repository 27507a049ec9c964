import * as v from 'valibot'
import { HOST } from './settings.ts'

/** The account that every local emulator uses in its ARNs. */
export const ACCOUNT_ID = '000000000000'

const resource = v.looseObject({ Type: v.string(), Properties: v.optional(v.looseObject({}), {}) })
export const resourcesSchema = v.record(v.string(), resource)
export type Resources = v.InferOutput<typeof resourcesSchema>

export const TABLE = 'AWS::DynamoDB::Table'
export const QUEUE = 'AWS::SQS::Queue'

/** Resolves a value of the template to text; `where` names its place in error messages. */
export type Resolve = (value: unknown, where: string) => string

export type Template = { resources: Resources; region: string; stackName: string; sqsPort: number }

const intrinsic = v.pipe(
  v.record(v.string(), v.unknown()),
  v.transform(value => Object.entries(value)),
  v.strictTuple([v.strictTuple([v.string(), v.unknown()])]),
)

const getAtt = v.union([
  v.strictTuple([v.string(), v.string()]),
  v.pipe(
    v.string(),
    v.regex(/^[^.]+\../),
    v.transform((text): [string, string] => [
      text.slice(0, text.indexOf('.')),
      text.slice(text.indexOf('.') + 1),
    ]),
  ),
])
const join = v.strictTuple([v.string(), v.array(v.unknown())])
const sub = v.union([
  v.pipe(
    v.string(),
    v.transform((text): [string, Record<string, unknown>] => [text, {}]),
  ),
  v.strictTuple([v.string(), v.record(v.string(), v.unknown())]),
])

/**
 * Makes the function that resolves CloudFormation's intrinsic functions as the local stack can: `Ref`,
 * `Fn::GetAtt`, `Fn::Sub`, `Fn::Join` and the pseudo parameters, over the tables and queues of a template.
 *
 * The returned function throws an Error that names the place and the resource when a value cannot be
 * resolved here.
 */
export const resolver = ({ resources, region, stackName, sqsPort }: Template): Resolve => {
  const pseudo: Record<string, string> = {
    'AWS::AccountId': ACCOUNT_ID,
    'AWS::Region': region,
    'AWS::Partition': 'aws',
    'AWS::URLSuffix': 'amazonaws.com',
    'AWS::StackName': stackName,
    'AWS::StackId': `arn:aws:cloudformation:${region}:${ACCOUNT_ID}:stack/${stackName}/local`,
  }

  const unresolvable = (where: string, what: string, why: string) =>
    new Error(`Cannot resolve ${where}: ${what} ${why}`)

  const find = (id: string, where: string, what: string) => {
    const found = resources[id]
    if (found === undefined) throw unresolvable(where, what, 'names no resource of serverless.yml')
    if (found.Type !== TABLE && found.Type !== QUEUE) {
      throw unresolvable(where, what, `is a ${found.Type}, which the local stack does not have`)
    }
    const property = found.Type === TABLE ? 'TableName' : 'QueueName'
    const name = found.Properties[property]
    return {
      type: found.Type,
      // CloudFormation makes up a name where none is given; the logical id serves as well.
      name: name === undefined ? id : resolve(name, `resources.${id}.${property}`),
    }
  }

  const arnOf = (type: string, name: string) =>
    type === TABLE
      ? `arn:aws:dynamodb:${region}:${ACCOUNT_ID}:table/${name}`
      : `arn:aws:sqs:${region}:${ACCOUNT_ID}:${name}`

  const ref = (id: string, where: string, what: string) => {
    const value = pseudo[id]
    if (value !== undefined) return value
    const { type, name } = find(id, where, what)
    return type === TABLE ? name : `http://${HOST}:${sqsPort}/${ACCOUNT_ID}/${name}`
  }

  const attribute = (id: string, name: string, where: string, what: string) => {
    const found = find(id, where, what)
    if (name === 'Arn') return arnOf(found.type, found.name)
    if (found.type === QUEUE && name === 'QueueName') return found.name
    if (found.type === QUEUE && name === 'QueueUrl') return ref(id, where, what)
    throw unresolvable(where, what, `is an attribute that the local stack does not know of a ${found.type}`)
  }

  const substitute = ([text, values]: [string, Record<string, unknown>], where: string) =>
    text.replaceAll(/\$\{(!?)([^}]+)\}/g, (_whole, literal: string, name: string) => {
      if (literal === '!') return `\${${name}}`
      const what = `Fn::Sub "\${${name}}"`
      const given = values[name]
      if (given !== undefined) return resolve(given, where)
      const [id, ...rest] = name.split('.')
      return rest.length === 0 || id === undefined
        ? ref(name, where, what)
        : attribute(id, rest.join('.'), where, what)
    })

  const resolve: Resolve = (value, where) => {
    if (typeof value === 'string') return value
    if (typeof value === 'number' || typeof value === 'boolean') return String(value)
    const call = v.safeParse(intrinsic, value)
    if (!call.success) {
      throw unresolvable(
        where,
        JSON.stringify(value) ?? String(value),
        'is neither text nor an intrinsic function',
      )
    }
    const [[name, argument]] = call.output
    const parsed = <Schema extends v.GenericSchema>(schema: Schema): v.InferOutput<Schema> => {
      const result = v.safeParse(schema, argument)
      if (result.success) return result.output
      throw unresolvable(where, name, `has an argument of the wrong form: ${JSON.stringify(argument)}`)
    }
    switch (name) {
      case 'Ref': {
        const id = parsed(v.string())
        return ref(id, where, `Ref "${id}"`)
      }
      case 'Fn::GetAtt': {
        const [id, property] = parsed(getAtt)
        return attribute(id, property, where, `Fn::GetAtt "${id}.${property}"`)
      }
      case 'Fn::Join': {
        const [separator, parts] = parsed(join)
        return parts.map(part => resolve(part, where)).join(separator)
      }
      case 'Fn::Sub':
        return substitute(parsed(sub), where)
      default:
        throw unresolvable(where, name, 'is an intrinsic function that the local stack does not know')
    }
  }
  return resolve
}
