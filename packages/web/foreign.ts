import type { IncomingHttpHeaders } from 'node:http'

/** The address on which all local servers listen: unreachable from other machines. */
export const HOST = '127.0.0.1'

/** Longer than clients reuse an idle connection, so that no server closes one during a request. */
export const KEEP_ALIVE_MS = 65_000

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i

const quoted = (header: string) => JSON.stringify(header.slice(0, 60))

/**
 * The evidence that a request comes from a web page of another origin: its Host, if the page reached this machine by DNS
 * rebinding, otherwise its Origin or, without one, Sec-Fetch-Site. Following a link is allowed.
 *
 * @returns undefined for programs on this machine and for pages that the same port serves
 */
export const foreignHeader = (headers: IncomingHttpHeaders): string | undefined => {
  const { host = '', origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers
  if (!LOOPBACK.test(host)) return `Host is ${quoted(host)}`
  if (origin !== undefined && origin !== `http://${host}`) return `Origin is ${quoted(origin)}`
  const isOther = site === 'cross-site' || site === 'same-site'
  return isOther && mode !== 'navigate' ? `Sec-Fetch-Site is ${site}` : undefined
}
