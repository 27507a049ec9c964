import { createHmac } from 'node:crypto'

/** RFC 3986, as OAuth requires; encodeURIComponent leaves five more characters unescaped. */
const encoded = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]) => (a < b ? -1 : 1)

/**
 * The query of a request to a shop without TLS, signed with OAuth 1.0a: WooCommerce accepts Basic over HTTPS only.
 *
 * @param nonce is accepted once
 * @param timestamp unix seconds, within fifteen minutes of the shop's clock
 */
export const signedQuery = (
  method: string,
  url: URL,
  { key, secret, nonce, timestamp }: { key: string; secret: string; nonce: string; timestamp: number },
): string => {
  const parameters = [
    ...url.searchParams,
    ['oauth_consumer_key', key],
    ['oauth_nonce', nonce],
    ['oauth_signature_method', 'HMAC-SHA256'],
    ['oauth_timestamp', String(timestamp)],
  ].map(([name = '', value = '']) => [encoded(name), encoded(value)] as const)
  const query = parameters
    .toSorted(byName)
    .map(pair => pair.join('='))
    .join('&')
  const base = [method, url.origin + url.pathname, query].map(encoded).join('&')
  const signature = createHmac('sha256', `${encoded(secret)}&`)
    .update(base)
    .digest('base64')
  return `${query}&oauth_signature=${encoded(signature)}`
}
