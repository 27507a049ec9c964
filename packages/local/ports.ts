import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { HOST } from '@order-relay/web/foreign.ts'
import * as v from 'valibot'
import { ADDRESSES, eachPort, PORT_NAMES, type PortName, type Ports } from './settings.ts'

const coded = v.looseObject({ code: v.string() })
const caused = v.looseObject({ cause: v.looseObject({}) })

/** The code of a system error, such as `ENOENT`, or of its innermost cause. */
export const codeOf = (error: unknown): string | undefined => {
  if (v.is(caused, error)) return codeOf(error.cause)
  return v.is(coded, error) ? error.code : undefined
}

/** Listens on the loopback address only. */
export const listen = async (server: Server, port: number): Promise<void> => {
  server.listen({ host: HOST, port })
  await once(server, 'listening')
}

/** @throws Error when it is not free */
const tryPort = async (port: number): Promise<void> => {
  const server = createServer()
  await listen(server, port)
  server.close()
  await once(server, 'close')
}

/**
 * Checks before anything starts that each of these ports is free.
 *
 * @throws Error naming the first port that is not, and the variable that changes it
 */
export const assertFree = async (ports: Ports, names: readonly PortName[] = PORT_NAMES): Promise<void> => {
  for (const name of names) {
    const port = ports[name]
    const { variable } = ADDRESSES[name]
    try {
      await tryPort(port)
    } catch (error) {
      const found = codeOf(error) === 'EADDRINUSE' ? 'is taken' : `cannot be used (${codeOf(error) ?? error})`
      throw new Error(
        `Cannot start: port ${port} ${found}; set ${variable} to a free port, or stop the process that uses it`,
        { cause: error },
      )
    }
  }
}

/** Below the ports that systems assign to outgoing connections, which could take one before it is used. */
const FIRST = 10_000
const COUNT = 20_000

let next = Math.floor(Math.random() * COUNT)

const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + (next++ % COUNT)
    const failure = await tryPort(port).catch(error => error)
    if (failure === undefined) return port
  }
  throw new Error(`Cannot find a free port: all from ${FIRST} to ${FIRST + COUNT} are taken`)
}

/** Free ports that this process has not used before, for stacks that run concurrently. */
export const freePorts = async (): Promise<Ports> => {
  const ports = await Promise.all(PORT_NAMES.map(freePort))
  return eachPort(name => ports[PORT_NAMES.indexOf(name)] ?? 0)
}
