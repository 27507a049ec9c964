import { once } from 'node:events'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import * as v from 'valibot'
import { codeOf } from './error-code.ts'
import { ACTIONS, ParameterStoreError, type Parameters, parameter } from './parameters.ts'
import { HOST } from './settings.ts'

const file = v.pipe(v.string(), v.parseJson(), v.object({ parameters: v.array(parameter) }))

const load = async (path: string): Promise<Parameters> => {
  try {
    const { parameters } = v.parse(file, await readFile(path, 'utf8'))
    return new Map(parameters.map(held => [held.Name, held]))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return new Map()
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      `Cannot read ${path}: ${why}; remove the file, and the next start registers the webhook anew`,
      { cause: error },
    )
  }
}

/** Replaces the file in one step, readable by its owner only: it holds secrets. */
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

const answer = (response: ServerResponse, status: number, body: unknown) => {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' })
  response.end(JSON.stringify(body))
}

const jsonBody = v.pipe(
  v.string(),
  v.transform(body => (body === '' ? '{}' : body)),
  v.parseJson(),
  v.looseObject({}),
)

/**
 * Starts a local Parameter Store on the loopback address: the actions of {@link ACTIONS} over the AWS JSON
 * 1.1 protocol, kept in the file `path` (mode 0600).
 *
 * @throws Error when the file is not readable
 */
export const startParameterStore = async (options: { port: number; path: string; region: string }) => {
  const { port, path, region } = options
  await mkdir(dirname(path), { recursive: true })
  let parameters = await load(path)
  let turn: Promise<unknown> = Promise.resolve()

  const act = async (request: IncomingMessage) => {
    const [, name = ''] = String(request.headers['x-amz-target'] ?? '').split('AmazonSSM.')
    const action = ACTIONS.get(name)
    if (action === undefined) {
      throw new ParameterStoreError(
        'UnknownOperationException',
        `The local Parameter Store has no action "${name}"`,
      )
    }
    const body = v.safeParse(jsonBody, await text(request))
    if (!body.success)
      throw new ParameterStoreError('SerializationException', 'The body is not a JSON object')
    const done = action(body.output, { parameters, region, now: Date.now() / 1000 })
    if (done.parameters !== undefined) {
      await save(path, done.parameters)
      parameters = done.parameters
    }
    return done.output
  }

  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      answer(response, 200, await act(request))
    } catch (error) {
      if (error instanceof ParameterStoreError) {
        answer(response, 400, { __type: error.exception, message: error.message })
      } else {
        answer(response, 500, { __type: 'InternalServerError', message: String(error) })
      }
    }
  }

  const server = createServer((request, response) => {
    // One at a time: each action sees what the one before it wrote.
    turn = turn.then(() => respond(request, response))
  })
  server.listen({ host: HOST, port })
  await once(server, 'listening')
  return {
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
