import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { portOf } from './address.ts'

/**
 * A gateway that drops connections silently, as AWS's NAT gateway does after 350 idle seconds: the next packet of a
 * client gets a reset.
 *
 * @param to port on the loopback address
 */
export const startNat = async (to: number) => {
  const connections = new Set<{ isForgotten: boolean; client: Socket }>()
  let resets = 0
  const server = createServer(client => {
    const connection = { isForgotten: false, client }
    connections.add(connection)
    const upstream = connect({ port: to, host: '127.0.0.1' })
    client.on('data', chunk => {
      if (!connection.isForgotten) return upstream.write(chunk)
      resets++
      return client.resetAndDestroy()
    })
    upstream.on('data', chunk => client.write(chunk))
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.setNoDelay()
      socket.on('error', () => other.destroy())
      socket.on('close', () => other.destroy())
    }
    client.on('close', () => connections.delete(connection))
  }).listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  return {
    port: portOf(server),
    /** Drops all connections. */
    forget() {
      for (const connection of connections) connection.isForgotten = true
    },
    resets: () => resets,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const { client } of connections) client.destroy()
      await closed
    },
  }
}
