import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { codeOf } from './error-code.ts'
import { ADDRESSES, HOST, PORT_NAMES, type PortName, type Ports } from './settings.ts'

const listen = async (port: number): Promise<Server> => {
  const server = createServer()
  server.listen({ host: HOST, port })
  await once(server, 'listening')
  return server
}

const close = async (server: Server) => {
  server.close()
  await once(server, 'close')
}

/**
 * Checks before anything starts that each of these ports can be listened on.
 *
 * @throws Error naming the first port that cannot, and the variable that moves it
 */
export const assertFree = async (ports: Ports, names: readonly PortName[] = PORT_NAMES): Promise<void> => {
  for (const name of names) {
    const port = ports[name]
    const { variable } = ADDRESSES[name]
    try {
      await close(await listen(port))
    } catch (error) {
      const found = codeOf(error) === 'EADDRINUSE' ? 'is taken' : `cannot be used (${codeOf(error) ?? error})`
      throw new Error(
        `Cannot start: port ${port} ${found}; set ${variable} to a free port, or end what listens there`,
        { cause: error },
      )
    }
  }
}

/** Below those that systems take for outgoing connections, so that none is taken between its finding and its use. */
const FIRST = 10_000
const COUNT = 20_000

let next = Math.floor(Math.random() * COUNT)

const isFree = (port: number): Promise<boolean> =>
  listen(port).then(
    async server => {
      await close(server)
      return true
    },
    () => false,
  )

/** A port that is free, and that this process has not given away before. */
const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + (next++ % COUNT)
    if (await isFree(port)) return port
  }
  throw new Error(`Cannot find a free port: all from ${FIRST} to ${FIRST + COUNT} are taken`)
}

/** Free ports, for stacks that run side by side. */
export const freePorts = async (): Promise<Ports> => ({
  relay: await freePort(),
  lambda: await freePort(),
  sandbox: await freePort(),
  dynamodb: await freePort(),
  sqs: await freePort(),
  ssm: await freePort(),
})
