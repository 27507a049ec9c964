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

/** Ports that were free a moment ago, for stacks that run side by side. */
export const freePorts = async (): Promise<Ports> => {
  // All are held at once, so that no two are the same.
  const servers = await Promise.all(PORT_NAMES.map(() => listen(0)))
  const port = (name: PortName) => {
    const address = servers[PORT_NAMES.indexOf(name)]?.address()
    if (typeof address !== 'object' || address === null) {
      throw new Error(`Cannot find a free port for ${name}: the probe has no address`)
    }
    return address.port
  }
  const ports: Ports = {
    relay: port('relay'),
    lambda: port('lambda'),
    sandbox: port('sandbox'),
    dynamodb: port('dynamodb'),
    sqs: port('sqs'),
    ssm: port('ssm'),
  }
  await Promise.all(servers.map(close))
  return ports
}
