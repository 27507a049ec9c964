import { BlockList, isIP } from 'node:net'

const versionOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Calls are marked as pure, so that only bundles that check addresses have the lists. */
const listOf = (...ranges: [network: string, prefix: number][]) => {
  const list = new BlockList()
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, versionOf(network))
  return list
}

const loopback = /* @__PURE__ */ listOf(['127.0.0.0', 8], ['::1', 128])

/** This host and link-local addresses, which include the metadata services and Lambda's runtime API. */
const internal = /* @__PURE__ */ listOf(
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['::', 128],
  ['fe80::', 10],
  ['fd00:ec2::', 32],
)

/** Networks of an organization, a VPC among them, and of a carrier (100.64/10). */
const privateNetworks = /* @__PURE__ */ listOf(
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['fc00::', 7],
)

/** The rest of IANA's special-purpose registry for IPv4, multicast and reserved addresses. */
const special4 = /* @__PURE__ */ listOf(
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
)

/** Everything outside global unicast (2000::/3), which includes IPv4 in IPv6 and NAT64, and the special ranges within it. */
const special6 = /* @__PURE__ */ listOf(
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
)

/** A list of IPv4 ranges contains their IPv4-mapped addresses too. */
const isIn = (list: BlockList, address: string) => {
  // BlockList finds no address with a zone, such as fe80::1%eth0.
  const [plain = ''] = address.split('%')
  return isIP(plain) !== 0 && list.check(plain, versionOf(plain))
}

/** The host of a URL; IPv6 without brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

/** Whether a host is this machine, by name or address. */
export const isLoopback = (host: string): boolean =>
  /^(.+\.)?localhost\.?$/i.test(host) || isIn(loopback, host)

const isPrivate = (address: string) => isIn(privateNetworks, address)

/** Whether an address must never receive a store's messages, regardless of the setting. */
export const isInternal = (address: string): boolean => {
  if (isIn(internal, address)) return true
  if (isLoopback(address) || isPrivate(address)) return false
  // BlockList would compare an IPv4 address with IPv6 ranges as an IPv4-mapped one.
  return isIn(versionOf(address) === 'ipv6' ? special6 : special4, address)
}

/** The addresses that stores' endpoints may have. Each value includes the previous ones; `loopback` is for the local stack. */
export const ALLOWED_ADDRESSES = ['public', 'private', 'loopback'] as const
export type AllowedAddresses = (typeof ALLOWED_ADDRESSES)[number]

/** The setting of a function; anything but a known value is `public`. */
export const allowedAddresses = ({ feedAddresses }: { feedAddresses: string }): AllowedAddresses =>
  ALLOWED_ADDRESSES.find(each => each === feedAddresses) ?? 'public'

/** @throws when a store's endpoint has, or resolves to, an address it must not have */
export const assertAllowed = (address: string, allowed: AllowedAddresses): void => {
  if (
    isInternal(address) ||
    (isLoopback(address) && allowed !== 'loopback') ||
    (isPrivate(address) && allowed === 'public')
  ) {
    throw new Error(`the address ${address} is not public`)
  }
}

/** The ports of an endpoint; with any other, a store could make the relay call services that are not HTTPS. */
const PORTS = ['', '8443']

/** Whether a URL may receive a store's messages: https, or http on this machine, without user and password. */
export const isFeedUrl = (address: string, allowed: AllowedAddresses): boolean => {
  const url = URL.parse(address)
  if (url === null || url.username !== '' || url.password !== '') return false
  const host = hostOf(url)
  if (isLoopback(host)) return allowed === 'loopback' && /^https?:$/.test(url.protocol)
  if (url.protocol !== 'https:' || !PORTS.includes(url.port) || isInternal(host)) return false
  return allowed !== 'public' || !isPrivate(host)
}

/** What {@link isFeedUrl} requires, for error messages. */
export const FEED_URL =
  'a public https address on port 443 or 8443 without user and password, such as https://shop.example/webhook'
