import { hash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { KEEP_ALIVE_MS } from '@order-relay/web/foreign.ts'
import PQueue from 'p-queue'
import * as v from 'valibot'
import { codeOf, listen } from './ports.ts'
import { ACCOUNT_ID, REGION, START_OVER } from './settings.ts'

const parameter = v.object({
  Name: v.string(),
  Type: v.picklist(['String', 'StringList', 'SecureString']),
  Value: v.string(),
  Version: v.number(),
  LastModifiedDate: v.number(),
})
type Parameter = v.InferOutput<typeof parameter>
type Parameters = ReadonlyMap<string, Parameter>

/** An error as AWS returns it: the exception's name and its message. */
class ParameterStoreError extends Error {
  readonly exception: string

  constructor(exception: string, message = '') {
    super(message)
    this.exception = exception
  }
}

const refuse = (message: string) => new ParameterStoreError('ValidationException', message)

type Done = { output: object; parameters?: Parameters }
type Action = (input: unknown, parameters: Parameters) => Done

/** An action whose input is validated by a schema. */
const action =
  <Schema extends v.GenericSchema>(
    schema: Schema,
    act: (input: v.InferOutput<Schema>, parameters: Parameters) => Done,
  ): Action =>
  (input, parameters) => {
    const parsed = v.safeParse(schema, input)
    if (parsed.success) return act(parsed.output, parameters)
    const [issue] = parsed.issues
    throw refuse(
      `Value at '${v.getDotPath(issue) ?? 'input'}' failed to satisfy constraint: ${issue.message}`,
    )
  }

const flag = v.optional(v.boolean(), false)
const name = v.pipe(
  v.string(),
  v.regex(
    /^(?:\/[\w.-]+){1,15}$|^[\w.-]+$/,
    'must be a path of letters, digits and "_.-", of 15 levels at most',
  ),
  v.regex(/^(?!\/?(?:aws|ssm))/i, 'must not begin with "aws" or "ssm"'),
)
const MAX_VALUE_BYTES = 4096
const value = v.pipe(v.string(), v.minBytes(1), v.maxBytes(MAX_VALUE_BYTES))
const PAGE = 10
const page = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(PAGE))

/** As in AWS, a SecureString is unreadable without decryption. */
const shown = (found: Parameter, decrypted: boolean) => ({
  ...found,
  Value: found.Type === 'SecureString' && !decrypted ? hash('sha256', found.Value, 'base64') : found.Value,
  ARN: `arn:aws:ssm:${REGION}:${ACCOUNT_ID}:parameter/${found.Name.replace(/^\//, '')}`,
  DataType: 'text',
})

/** Finds a parameter by its name. @throws ParameterStoreError if it does not exist */
const found = (parameters: Parameters, name: string): Parameter => {
  const held = parameters.get(name)
  if (held === undefined) throw new ParameterStoreError('ParameterNotFound')
  return held
}

/** The actions of Parameter Store that the relay and its setup use, by API name. */
const ACTIONS: Readonly<Record<string, Action>> = {
  PutParameter: action(
    v.object({ Name: name, Value: value, Type: v.exactOptional(parameter.entries.Type), Overwrite: flag }),
    ({ Name, Value, Overwrite, ...input }, parameters) => {
      const held = parameters.get(Name)
      if (held !== undefined && !Overwrite) {
        throw new ParameterStoreError(
          'ParameterAlreadyExists',
          'The parameter already exists. To overwrite this value, set the overwrite option in the request to true.',
        )
      }
      const Type = input.Type ?? held?.Type
      if (Type === undefined) throw refuse('A parameter type is required when you create a parameter.')
      const Version = (held?.Version ?? 0) + 1
      const put = { Name, Type, Value, Version, LastModifiedDate: Date.now() / 1000 }
      return { output: { Version, Tier: 'Standard' }, parameters: new Map(parameters).set(Name, put) }
    },
  ),
  GetParameter: action(
    v.object({ Name: v.string(), WithDecryption: flag }),
    ({ Name, WithDecryption }, parameters) => ({
      output: { Parameter: shown(found(parameters, Name), WithDecryption) },
    }),
  ),
  GetParametersByPath: action(
    v.strictObject({
      Path: v.pipe(v.string(), v.startsWith('/')),
      Recursive: flag,
      WithDecryption: flag,
      MaxResults: v.optional(page, PAGE),
      NextToken: v.exactOptional(v.string()),
    }),
    ({ Path, Recursive, WithDecryption, MaxResults, NextToken = '' }, parameters) => {
      const prefix = Path.endsWith('/') ? Path : `${Path}/`
      // The token is the last name returned, so that pages stay correct while parameters are added and removed.
      const last = Buffer.from(NextToken, 'base64url').toString()
      if (last !== '' && !last.startsWith(prefix)) {
        throw new ParameterStoreError('InvalidNextToken', 'The specified token is not valid.')
      }
      const rest = [...parameters.values()]
        .filter(({ Name }) => Name.startsWith(prefix) && Name > last)
        .filter(({ Name }) => Recursive || !Name.slice(prefix.length).includes('/'))
        .sort((a, b) => (a.Name < b.Name ? -1 : 1))
      const page = rest.slice(0, MaxResults)
      const end = rest.length > page.length ? page.at(-1) : undefined
      return {
        output: {
          Parameters: page.map(each => shown(each, WithDecryption)),
          ...(end !== undefined && { NextToken: Buffer.from(end.Name).toString('base64url') }),
        },
      }
    },
  ),
  DeleteParameter: action(v.object({ Name: v.string() }), ({ Name }, parameters) => {
    found(parameters, Name)
    return { output: {}, parameters: new Map([...parameters].filter(([name]) => name !== Name)) }
  }),
}

const file = v.pipe(v.string(), v.parseJson(), v.object({ parameters: v.array(parameter) }))

const load = async (path: string): Promise<Parameters> => {
  try {
    const { parameters } = v.parse(file, await readFile(path, 'utf8'))
    return new Map(parameters.map(held => [held.Name, held]))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return new Map()
    // Without the cause, which quotes the file and its secrets.
    throw new Error(`Cannot read ${path}: ${codeOf(error) ?? 'it is damaged'}; ${START_OVER}`)
  }
}

/** Replaces the file atomically. Only its owner can read it, because it contains secrets. */
const save = async (path: string, parameters: Parameters) => {
  const next = `${path}.next`
  const text = JSON.stringify({ parameters: [...parameters.values()] }, null, 2)
  await writeFile(next, text, { mode: 0o600, flush: true })
  await rename(next, path)
}

const jsonBody = v.pipe(
  v.string(),
  v.transform(body => (body === '' ? '{}' : body)),
  v.parseJson(),
  v.looseObject({}),
)

/** Direct access to the parameters, without HTTP. */
export type ParameterStore = {
  /** Writes a SecureString, unless it already has this value: its date shows when the value was set. */
  put: (name: string, value: string) => Promise<void>
  deleteAll: (matches: (name: string) => boolean) => Promise<void>
  /** The value of the parameter below a path that was set last. */
  lastIn: (path: string) => string | undefined
}

export type ParameterStoreOptions = {
  port: number
  /** The file that holds the parameters (mode 0600). */
  path: string
  /** Called before the port opens. */
  seed?: (parameters: ParameterStore) => Promise<void>
}

/**
 * Starts a local Parameter Store on the loopback address: the actions that the relay uses over the AWS JSON 1.1
 * protocol.
 *
 * @throws Error when the file cannot be read
 */
export const startParameterStore = async (options: ParameterStoreOptions) => {
  const { port, path, seed } = options
  await mkdir(dirname(path), { recursive: true })
  let parameters = await load(path)
  // Handles one request at a time, so that each sees the writes of the previous one.
  const turns = new PQueue({ concurrency: 1 })

  const replace = async (changed: Parameters) => {
    await save(path, changed)
    parameters = changed
  }
  const act = async (name: string, input: unknown) => {
    const found = ACTIONS[name]
    if (found === undefined) {
      const message = `The local Parameter Store has no action "${name}"`
      throw new ParameterStoreError('UnknownOperationException', message)
    }
    const done = found(input, parameters)
    if (done.parameters !== undefined) await replace(done.parameters)
    return done.output
  }
  const handle = async (request: IncomingMessage) => {
    const [, name = ''] = String(request.headers['x-amz-target'] ?? '').split('AmazonSSM.')
    const body = v.safeParse(jsonBody, await text(request))
    if (!body.success)
      throw new ParameterStoreError('SerializationException', 'The body is not a JSON object')
    return turns.add(() => act(name, body.output))
  }

  const direct: ParameterStore = {
    put: (Name, Value) =>
      turns.add(async () => {
        if (parameters.get(Name)?.Value === Value) return
        await act('PutParameter', { Name, Value, Type: 'SecureString', Overwrite: true })
      }),
    deleteAll: matches =>
      turns.add(() => replace(new Map([...parameters].filter(([name]) => !matches(name))))),
    lastIn: path =>
      [...parameters.values()]
        .filter(({ Name }) => Name.startsWith(`${path}/`))
        .toSorted((a, b) => b.LastModifiedDate - a.LastModifiedDate)[0]?.Value,
  }
  await seed?.(direct)

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, async (request, response) => {
    const [status, body] = await handle(request).then(
      output => [200, output] as const,
      error =>
        error instanceof ParameterStoreError
          ? ([400, { __type: error.exception, message: error.message }] as const)
          : ([500, { __type: 'InternalServerError', message: String(error) }] as const),
    )
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body))
  })
  await listen(server, port)
  return {
    ...direct,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
