import { expect, test } from '@jest/globals'
import { ALLOWED_ADDRESSES, type AllowedAddresses, assertAllowed } from '../../lib/platform/addresses.ts'
import { SPECIAL_PURPOSE } from './special-purpose.ts'

/** The groups of an address: eight of 16 bits, or four of 8. */
const groupsOf = (address: string) => {
  if (!address.includes(':')) return { size: 8, groups: address.split('.').map(Number) }
  const [head, tail] = address
    .split('::')
    .map(part => (part === '' ? [] : part.split(':').map(group => Number.parseInt(group, 16))))
  const zeros = Array<number>(8 - (head?.length ?? 0) - (tail?.length ?? 0)).fill(0)
  return { size: 16, groups: [...(head ?? []), ...(tail === undefined ? [] : zeros), ...(tail ?? [])] }
}

/** The first and the last address of a block, and one in between. */
const addressesIn = (block: string) => {
  const [network = '', prefix] = block.split('/')
  const { size, groups } = groupsOf(network)
  const filled = (bits: number) =>
    groups
      .map((group, index) => {
        const free = Math.min(size, Math.max(0, (index + 1) * size - Number(prefix)))
        return group | (bits & (2 ** free - 1))
      })
      .map(group => group.toString(size === 16 ? 16 : 10))
      .join(size === 16 ? ':' : '.')
  return [filled(0), filled(0x5a5a), filled(0xffff)]
}

const settingsThatAllow = (address: string) =>
  ALLOWED_ADDRESSES.filter((allowed: AllowedAddresses) => {
    try {
      assertAllowed(address, allowed)
      return true
    } catch {
      return false
    }
  })

const PRIVATE = ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']
const LOOPBACK = ['127.0.0.0/8', '::1/128']

test.each(SPECIAL_PURPOSE)('HTTP feeds do not reach %s (%s) by default', block => {
  for (const address of addressesIn(block)) {
    const expected = PRIVATE.includes(block)
      ? ['private', 'loopback']
      : LOOPBACK.includes(block)
        ? ['loopback']
        : []
    // The first addresses of ::/96 are loopback too.
    if (block === '::/96' && address.endsWith(':1')) continue
    expect([address, settingsThatAllow(address)]).toEqual([address, expected])
  }
})

test.each([
  ['::ffff:10.0.0.1', ['private', 'loopback']],
  ['::ffff:127.0.0.1', ['loopback']],
  ['::ffff:8.8.8.8', []],
  ['::ffff:169.254.169.254', []],
  ['169.254.169.254', []],
  ['fd00:ec2::254', []],
  ['fe80::1%eth0', []],
])('%s is allowed only by %j', (address, expected) => {
  expect(settingsThatAllow(address)).toEqual(expected)
})

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '172.15.255.255',
  '172.32.0.0',
  '100.128.0.0',
  '192.0.1.0',
  '223.255.255.255',
])('public IPv4 addresses such as %s are reached', address =>
  expect(settingsThatAllow(address)).toEqual(ALLOWED_ADDRESSES),
)

test.each(['2600:1f14::1', '2001:4860:4860::8888', '2a00:1450::1', '2003::', '3ffe::'])(
  'public IPv6 addresses such as %s are reached',
  address => expect(settingsThatAllow(address)).toEqual(ALLOWED_ADDRESSES),
)
