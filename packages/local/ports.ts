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

const inEnglish = new Intl.ListFormat('en', { type: 'conjunction' })

/**
 * Checks before anything starts that each of these ports is free.
 *
 * @throws Error naming the ports that are not, and the variables that change them
 */
export const assertFree = async (ports: Ports, names: readonly PortName[] = PORT_NAMES): Promise<void> => {
  const taken: PortName[] = []
  for (const name of names) {
    try {
      await tryPort(ports[name])
    } catch (cause) {
      if (codeOf(cause) !== 'EADDRINUSE') {
        const failure = `port ${ports[name]} cannot be used (${codeOf(cause) ?? cause})`
        throw new Error(`Cannot start: ${failure}; set ${ADDRESSES[name].variable} to another`, { cause })
      }
      taken.push(name)
    }
  }
  if (taken.length === 0) return
  const [numbers, variables] = [
    inEnglish.format(taken.map(name => String(ports[name]))),
    inEnglish.format(taken.map(name => ADDRESSES[name].variable)),
  ]
  throw new Error(
    taken.length === 1
      ? `Cannot start: port ${numbers} is taken; set ${variables} to a free port, or stop the process that uses it`
      : `Cannot start: ports ${numbers} are taken, perhaps by another npm start; stop it, or set ${variables} to free ports`,
  )
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
