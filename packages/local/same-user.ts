import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'

const ESTABLISHED = '01'
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

const known = new WeakMap<Socket, boolean>()

/** Whether a program of this process's own user opened the connection; read once for each connection. */
export const isSameUser = (socket: Socket): boolean => {
  const same = known.get(socket) ?? userOf(socket, TABLES.flatMap(read)) === process.getuid?.()
  known.set(socket, same)
  return same
}
