import type { Server } from 'node:net'

/** The port that a server listens on. */
export const portOf = (server: Server): number => {
  const address = server.address()
  if (address === null || typeof address === 'string')
    throw new Error('Cannot read the address of a server: it does not listen on a port')
  return address.port
}

/** The base URL of a server that listens on the loopback address. */
export const addressOf = (server: Server): string => `http://127.0.0.1:${portOf(server)}`
