import { BlockList, isIP } from 'node:net'

const listOf = (...ranges: [network: string, prefix: number][]) => {
  const list = new BlockList()
  for (const [network, prefix] of ranges)
    list.addSubnet(network, prefix, isIP(network) === 6 ? 'ipv6' : 'ipv4')
  return list
}

const loopback = listOf(['127.0.0.0', 8], ['::1', 128])

/** This host and link-local addresses, which include the metadata services and Lambda's runtime API. */
const internal = listOf(['0.0.0.0', 8], ['169.254.0.0', 16], ['::', 128], ['fe80::', 10], ['fd00:ec2::', 32])

const isIn = (list: BlockList, address: string) => {
  const version = isIP(address)
  return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4')
}

/** The host of a URL; IPv6 without brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

/** Whether a host is this machine, by name or address. */
export const isLoopback = (host: string): boolean =>
  /^(.+\.)?localhost\.?$/i.test(host) || isIn(loopback, host)

/** Whether an address must never receive a store's messages. */
export const isInternal = (address: string): boolean => isIn(internal, address)

/** The allowed addresses of stores' endpoints: `loopback` only on a developer's machine. */
export type AllowedAddresses = 'public' | 'loopback'

/** Anything but `loopback` is `public`. */
export const allowedAddresses = ({ feedAddresses }: { feedAddresses: string }): AllowedAddresses =>
  feedAddresses === 'loopback' ? 'loopback' : 'public'

/** Whether a URL may receive a store's messages: https and public, without user and password; http on this machine. */
export const isFeedUrl = (address: string, allowed: AllowedAddresses): boolean => {
  const url = URL.parse(address)
  if (url === null || url.username !== '' || url.password !== '' || isInternal(hostOf(url))) return false
  return isLoopback(hostOf(url))
    ? allowed === 'loopback' && /^https?:$/.test(url.protocol)
    : url.protocol === 'https:'
}

/** What {@link isFeedUrl} demands, for messages. */
export const FEED_URL =
  'a public https address without user and password, such as https://shop.example/webhook'

/** @throws when a store's endpoint resolves to an address it must not have */
export const assertAllowed = (address: string, allowed: AllowedAddresses): void => {
  if (isInternal(address) || (allowed === 'public' && isLoopback(address))) {
    throw new Error(`the address ${address} is not public`)
  }
}
