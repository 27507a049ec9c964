import { readFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import { isSameUser, listenerOf, userOf } from '../same-user.ts'

const HEAD =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
const lineOf = (from: string, to: string, state: string, uid: number) =>
  `   0: ${from} ${to} ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 1234 1`
const CONNECTION = {
  remoteAddress: '127.0.0.1',
  remotePort: 40_000,
  localAddress: '127.0.0.1',
  localPort: 9324,
}
const [CLIENT, SERVER] = ['0100007F:9C40', '0100007F:246C']
const MAPPED = '0000000000000000FFFF00000100007F'

test.each<[string, string[], number | undefined]>([
  [
    'the user of the connecting side',
    [lineOf(SERVER, CLIENT, '01', 0), lineOf(CLIENT, SERVER, '01', 65534)],
    65534,
  ],
  ['a client with an IPv6 socket', [lineOf(`${MAPPED}:9C40`, `${MAPPED}:246C`, '01', 1000)], 1000],
  ['a client that has closed, which the kernel counts as root', [lineOf(CLIENT, SERVER, '06', 0)], undefined],
  ['the same port of another address', [lineOf('0200007F:9C40', SERVER, '01', 0)], undefined],
  ['no tables', [], undefined],
])('finds the user: %s', (_name, lines, user) => {
  expect(userOf(CONNECTION, [[HEAD, ...lines].join('\n')])).toBe(user)
})

test.each<[string, string[], number | undefined]>([
  [
    'of this address instead of all',
    [lineOf('00000000:246C', '00000000:0000', '0A', 1), lineOf(SERVER, '00000000:0000', '0A', 65534)],
    65534,
  ],
  ['of all addresses', [lineOf('00000000:246C', '00000000:0000', '0A', 1000)], 1000],
  ['of all IPv6 addresses', [lineOf(`${'0'.repeat(32)}:246C`, `${'0'.repeat(32)}:0000`, '0A', 1000)], 1000],
  [
    'not of a connection, or another address',
    [lineOf(SERVER, CLIENT, '01', 1), lineOf('0200007F:246C', '', '0A', 1)],
    undefined,
  ],
])('finds the user of a server: %s', (_name, lines, user) => {
  expect(listenerOf(9324, [[HEAD, ...lines].join('\n')])).toBe(user)
})

const hasTables = () => {
  try {
    return readFileSync('/proc/net/tcp', 'latin1') !== ''
  } catch {
    return false
  }
}

test('reports a connection of this process as one of the same user, if the system can tell', async () => {
  const server = createServer()
  const accepted = new Promise<Socket>(resolve => server.on('connection', resolve))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const client = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1')
  expect(isSameUser(await accepted)).toBe(hasTables())
  if (typeof address === 'object' && address !== null)
    expect(listenerOf(address.port)).toBe(hasTables() ? process.getuid?.() : undefined)
  client.destroy()
  await new Promise(resolve => server.close(resolve))
})
