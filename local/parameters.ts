import { createHash } from 'node:crypto'
import * as v from 'valibot'

export const parameter = v.object({
  Name: v.string(),
  Type: v.picklist(['String', 'StringList', 'SecureString']),
  Value: v.string(),
  Version: v.number(),
  LastModifiedDate: v.number(),
})

type Parameter = v.InferOutput<typeof parameter>
export type Parameters = ReadonlyMap<string, Parameter>

/** An error as AWS returns it: the exception's name and its message. */
export class ParameterStoreError extends Error {
  readonly exception: string

  constructor(exception: string, message: string) {
    super(message)
    this.exception = exception
  }
}

type ParameterScope = { parameters: Parameters; region: string; now: number }
type Result = { output: Record<string, unknown>; parameters?: Parameters }
type Action = (input: unknown, scope: ParameterScope) => Result

const NAME = /^\/?[\w.-]+(?:\/[\w.-]+)*$/
const MAX_DEPTH = 15
const MAX_VALUE_BYTES = 4096
const PAGE = 10

const refuse = (message: string) => new ParameterStoreError('ValidationException', message)

const parse = <Schema extends v.GenericSchema>(schema: Schema, input: unknown): v.InferOutput<Schema> => {
  const result = v.safeParse(schema, input)
  if (result.success) return result.output
  const [issue] = result.issues
  throw refuse(`Value at '${v.getDotPath(issue) ?? 'input'}' failed to satisfy constraint: ${issue.message}`)
}

const putInput = v.object({
  Name: v.string(),
  Value: v.string(),
  Type: v.exactOptional(parameter.entries.Type),
  Overwrite: v.optional(v.boolean(), false),
})
const getInput = v.object({ Name: v.string(), WithDecryption: v.optional(v.boolean(), false) })
const pathInput = v.object({
  Path: v.string(),
  Recursive: v.optional(v.boolean(), false),
  WithDecryption: v.optional(v.boolean(), false),
  MaxResults: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(PAGE)), PAGE),
  NextToken: v.exactOptional(v.string()),
  ParameterFilters: v.optional(
    v.pipe(v.array(v.unknown()), v.maxLength(0, 'filters are not supported here')),
    [],
  ),
})
const deleteInput = v.object({ Name: v.string() })
const deleteManyInput = v.object({ Names: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(PAGE)) })

const assertName = (name: string) => {
  if (!NAME.test(name) || /^\/?(?:aws|ssm)/i.test(name)) {
    throw refuse(
      `Parameter name "${name}" is not allowed: use letters, digits and "_.-/", and do not begin with "aws" or "ssm"`,
    )
  }
  if (name.includes('/') && !name.startsWith('/'))
    throw refuse('Parameter name must be a fully qualified name.')
  if (name.split('/').length - 1 > MAX_DEPTH) {
    throw new ParameterStoreError(
      'HierarchyLevelLimitExceededException',
      `The hierarchy of "${name}" has more than ${MAX_DEPTH} levels.`,
    )
  }
}

/** Without decryption, a SecureString is unreadable, as in AWS. */
const shown = (found: Parameter, decrypted: boolean, region: string) => ({
  ...found,
  Value:
    found.Type === 'SecureString' && !decrypted
      ? createHash('sha256').update(found.Value).digest('base64')
      : found.Value,
  ARN: `arn:aws:ssm:${region}:000000000000:parameter/${found.Name.replace(/^\//, '')}`,
  DataType: 'text',
})

const put: Action = (input, { parameters, now }) => {
  const { Name, Value, Type, Overwrite } = parse(putInput, input)
  assertName(Name)
  const held = parameters.get(Name)
  if (held !== undefined && !Overwrite) {
    throw new ParameterStoreError(
      'ParameterAlreadyExists',
      'The parameter already exists. To overwrite this value, set the overwrite option in the request to true.',
    )
  }
  const type = Type ?? held?.Type
  if (type === undefined) throw refuse('A parameter type is required when you create a parameter.')
  const bytes = Buffer.byteLength(Value)
  if (bytes === 0 || bytes > MAX_VALUE_BYTES) {
    throw refuse(
      `The value of "${Name}" has ${bytes} bytes; standard parameters allow 1 to ${MAX_VALUE_BYTES}.`,
    )
  }
  const Version = (held?.Version ?? 0) + 1
  return {
    output: { Version, Tier: 'Standard' },
    parameters: new Map(parameters).set(Name, { Name, Type: type, Value, Version, LastModifiedDate: now }),
  }
}

const get: Action = (input, { parameters, region }) => {
  const { Name, WithDecryption } = parse(getInput, input)
  const found = parameters.get(Name)
  if (found === undefined) throw new ParameterStoreError('ParameterNotFound', '')
  return { output: { Parameter: shown(found, WithDecryption, region) } }
}

const getByPath: Action = (input, { parameters, region }) => {
  const { Path, Recursive, WithDecryption, MaxResults, NextToken } = parse(pathInput, input)
  if (!Path.startsWith('/')) {
    throw refuse('The parameter path must start with "/", and may not end with it unless it is the root.')
  }
  const prefix = Path.endsWith('/') ? Path : `${Path}/`
  const below = [...parameters.keys()]
    .filter(name => name.startsWith(prefix) && (Recursive || !name.slice(prefix.length).includes('/')))
    .sort()
  // The token is the last name returned, so that pages stay correct while parameters are added and removed.
  const last = NextToken === undefined ? undefined : Buffer.from(NextToken, 'base64url').toString()
  if (last !== undefined && !last.startsWith(prefix)) {
    throw new ParameterStoreError('InvalidNextToken', 'The specified token is not valid.')
  }
  const rest = last === undefined ? below : below.filter(name => name > last)
  const page = rest.slice(0, MaxResults)
  const end = page.at(-1)
  const more = rest.length > page.length && end !== undefined
  return {
    output: {
      Parameters: page.flatMap(name => {
        const found = parameters.get(name)
        return found === undefined ? [] : [shown(found, WithDecryption, region)]
      }),
      ...(more && { NextToken: Buffer.from(end).toString('base64url') }),
    },
  }
}

const without = (parameters: Parameters, names: readonly string[]) => {
  const kept = new Map(parameters)
  for (const name of names) kept.delete(name)
  return kept
}

const deleteOne: Action = (input, { parameters }) => {
  const { Name } = parse(deleteInput, input)
  if (!parameters.has(Name)) throw new ParameterStoreError('ParameterNotFound', '')
  return { output: {}, parameters: without(parameters, [Name]) }
}

const deleteMany: Action = (input, { parameters }) => {
  const { Names } = parse(deleteManyInput, input)
  const DeletedParameters = Names.filter(name => parameters.has(name))
  return {
    output: { DeletedParameters, InvalidParameters: Names.filter(name => !parameters.has(name)) },
    parameters: without(parameters, DeletedParameters),
  }
}

/** The actions of Parameter Store that the relay and its setup use, by API name. */
export const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ['PutParameter', put],
  ['GetParameter', get],
  ['GetParametersByPath', getByPath],
  ['DeleteParameter', deleteOne],
  ['DeleteParameters', deleteMany],
])
