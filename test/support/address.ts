import type { Server } from 'node:http'

/** The base URL of a server that listens on the loopback address. */
export const addressOf = (server: Server): string => {
  const address = server.address()
  if (address === null || typeof address === 'string')
    throw new Error('Cannot tell the address: not listening')
  return `http://127.0.0.1:${address.port}`
}
