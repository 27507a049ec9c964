import { once } from 'node:events'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import * as v from 'valibot'
import { ACTIONS, ParameterStoreError, type Parameters, parameter } from './parameters.ts'
import { codeOf } from './ports.ts'
import { HOST, REGION } from './settings.ts'

const file = v.pipe(v.string(), v.parseJson(), v.object({ parameters: v.array(parameter) }))

const load = async (path: string): Promise<Parameters> => {
  try {
    const { parameters } = v.parse(file, await readFile(path, 'utf8'))
    return new Map(parameters.map(held => [held.Name, held]))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return new Map()
    // The error quotes the file, which holds secrets.
    throw new Error(
      `Cannot read ${path}: ${codeOf(error) ?? 'it is damaged'}; remove the file, and the next start creates keys and secrets again`,
      { cause: error },
    )
  }
}

/** Replaces the file atomically, readable by its owner only: it holds secrets. */
const save = async (path: string, parameters: Parameters) => {
  const next = `${path}.next`
  const handle = await open(next, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify({ parameters: [...parameters.values()] }, null, 2))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(next, path)
}

const respond = (response: ServerResponse, status: number, body: unknown) => {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' })
  response.end(JSON.stringify(body))
}

const jsonBody = v.pipe(
  v.string(),
  v.transform(body => (body === '' ? '{}' : body)),
  v.parseJson(),
  v.looseObject({}),
)

/** Direct access to the parameters, without HTTP. */
export type ParameterStore = {
  /** Writes a SecureString. */
  put: (name: string, value: string) => Promise<void>
  deleteAll: (matches: (name: string) => boolean) => Promise<void>
}

export type ParameterStoreOptions = {
  port: number
  /** The file that holds the parameters (mode 0600). */
  path: string
  /** The region of its ARNs. @default eu-central-1 */
  region?: string
  /** Called before the port opens. */
  seed?: (parameters: ParameterStore) => Promise<void>
}

/**
 * Starts a local Parameter Store on the loopback address: the actions of {@link ACTIONS} over the AWS JSON 1.1
 * protocol.
 *
 * @throws Error when the file cannot be read
 */
export const startParameterStore = async (options: ParameterStoreOptions) => {
  const { port, path, region = REGION, seed } = options
  await mkdir(dirname(path), { recursive: true })
  let parameters = await load(path)
  let turn: Promise<unknown> = Promise.resolve()

  const replace = async (changed: Parameters) => {
    await save(path, changed)
    parameters = changed
  }
  const act = async (name: string, input: unknown) => {
    const action = ACTIONS.get(name)
    if (action === undefined) {
      throw new ParameterStoreError(
        'UnknownOperationException',
        `The local Parameter Store has no action "${name}"`,
      )
    }
    const done = action(input, { parameters, region, now: Date.now() / 1000 })
    if (done.parameters !== undefined) await replace(done.parameters)
    return done.output
  }
  /** Runs one at a time, so that each sees what the one before it wrote. */
  const inTurn = <Result>(run: () => Promise<Result>): Promise<Result> => {
    const result = turn.then(run)
    turn = result.catch(() => undefined)
    return result
  }

  const handle = async (request: IncomingMessage) => {
    const [, name = ''] = String(request.headers['x-amz-target'] ?? '').split('AmazonSSM.')
    const body = v.safeParse(jsonBody, await text(request))
    if (!body.success) {
      throw new ParameterStoreError('SerializationException', 'The body is not a JSON object')
    }
    return act(name, body.output)
  }

  const direct: ParameterStore = {
    put: (Name, Value) =>
      inTurn(
        async () => void (await act('PutParameter', { Name, Value, Type: 'SecureString', Overwrite: true })),
      ),
    deleteAll: matches => inTurn(() => replace(new Map([...parameters].filter(([name]) => !matches(name))))),
  }
  await seed?.(direct)

  const server = createServer((request, response) =>
    inTurn(async () => {
      try {
        respond(response, 200, await handle(request))
      } catch (error) {
        if (error instanceof ParameterStoreError) {
          respond(response, 400, { __type: error.exception, message: error.message })
        } else {
          respond(response, 500, { __type: 'InternalServerError', message: String(error) })
        }
      }
    }),
  )
  server.listen({ host: HOST, port })
  await once(server, 'listening')
  return {
    ...direct,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
