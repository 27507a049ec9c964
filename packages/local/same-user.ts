import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { HOST } from '@order-relay/web/foreign.ts'

const [ESTABLISHED, LISTENING] = ['01', '0A']
/** The kernel's connection tables; IPv6 sockets also hold connections of IPv4. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']

const hex = (number: number, digits: number) => number.toString(16).toUpperCase().padStart(digits, '0')

/** An IPv4 address as the kernel of a little-endian machine prints it, alone and mapped to IPv6. */
const printed = (address: string) => {
  const bytes = address.replace('::ffff:', '').split('.').map(Number)
  const reversed = bytes.reverse().map(byte => hex(byte, 2))
  return [reversed.join(''), `0000000000000000FFFF0000${reversed.join('')}`]
}

type Connection = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>

/**
 * The user who opened a local connection, according to the kernel's tables; undefined if they do not show it, as on macOS
 * and Windows. A connection that its owner has closed has no user.
 *
 * @param tables the text of the tables
 */
export const userOf = (
  { remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 }: Connection,
  tables: readonly string[],
): number | undefined => {
  const from = printed(remoteAddress).map(address => `${address}:${hex(remotePort, 4)}`)
  const to = printed(localAddress).map(address => `${address}:${hex(localPort, 4)}`)
  for (const line of tables.flatMap(table => table.split('\n'))) {
    const [, local = '', remote = '', state, , , , uid] = line.trim().split(/\s+/)
    if (from.includes(local) && to.includes(remote) && state === ESTABLISHED) return Number(uid)
  }
  return undefined
}

const read = (path: string) => {
  try {
    return [readFileSync(path, 'latin1')]
  } catch {
    return []
  }
}

/**
 * The user who accepts connections to a port of this machine, according to the kernel's tables; undefined if they do not
 * show it.
 *
 * @param tables the text of the tables
 */
export const listenerOf = (port: number, tables = TABLES.flatMap(read)): number | undefined => {
  const lines = tables.flatMap(table => table.split('\n')).map(line => line.trim().split(/\s+/))
  // A server that listens on all addresses gets only the connections for whose address no other server listens.
  for (const address of [...printed(HOST), ...printed('0.0.0.0'), '0'.repeat(32)]) {
    const found = lines.find(
      ([, local, , state]) => local === `${address}:${hex(port, 4)}` && state === LISTENING,
    )
    if (found !== undefined) return Number(found[7])
  }
  return undefined
}

const known = new WeakMap<Socket, boolean>()

/** Whether a program of this process's own user opened the connection; read once for each connection. */
export const isSameUser = (socket: Socket): boolean => {
  const same = known.get(socket) ?? userOf(socket, TABLES.flatMap(read)) === process.getuid?.()
  known.set(socket, same)
  return same
}
