import { createHmac } from 'node:crypto'

type Key = { key: string; secret: string }

/** A key with the permission Read. */
export const READ_ONLY = { key: 'ck_read', secret: 'cs_read' }

export class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly headers: Record<string, string>
  constructor(status: number, code: string, headers: Record<string, string> = {}) {
    super(code)
    this.status = status
    this.code = code
    this.headers = headers
  }
}

const encoded = (value: string) =>
  encodeURIComponent(value).replace(/[!'()*]/g, c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

/** Over HTTP, a signature is accepted once, within fifteen minutes of the shop's clock. @throws Refusal */
export const authenticator = (own: Key, now: () => Date) => {
  const nonces = new Set<string>()
  return (method: string, url: URL): void => {
    const signature = url.searchParams.get('oauth_signature')
    const parameters = [...url.searchParams].filter(([name]) => name !== 'oauth_signature')
    const query = parameters
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join('&')
    const base = `${method}&${encoded(url.origin + url.pathname)}&${encoded(query)}`
    const given = url.searchParams.get('oauth_consumer_key')
    const known = [own, READ_ONLY].find(each => each.key === given)
    const expected = createHmac('sha256', `${encoded(known?.secret ?? '')}&`)
      .update(base)
      .digest('base64')
    const nonce = url.searchParams.get('oauth_nonce') ?? ''
    const age = Math.abs(now().getTime() / 1000 - Number(url.searchParams.get('oauth_timestamp')))
    const isValid = known !== undefined && signature === expected
    const isRefused = known === READ_ONLY && method !== 'GET'
    if (!isValid || nonces.has(nonce) || age > 900 || isRefused)
      throw new Refusal(401, 'woocommerce_rest_authentication_error')
    nonces.add(nonce)
  }
}

/** A page of a list, with at most a hundred entries. @throws Refusal */
export const paged = <Item>(items: readonly Item[], query: URLSearchParams) => {
  const size = Number(query.get('per_page') ?? 10)
  if (size > 100) throw new Refusal(400, 'rest_invalid_param')
  const page = Number(query.get('page') ?? 1)
  return items.slice((page - 1) * size, page * size)
}

/** Only the requested fields. */
export const withFields = (result: unknown, fields: string | null): unknown => {
  if (fields === null) return result
  const names = new Set(fields.split(','))
  const only = (item: unknown) =>
    Object.fromEntries(Object.entries(item as object).filter(([name]) => names.has(name)))
  return Array.isArray(result) ? result.map(only) : only(result)
}

const AMOUNTS = new Set(['total', 'total_tax', 'subtotal', 'subtotal_tax'])

/** The result with as many decimals in each amount as the parameter `dp` says. */
export const withDecimals = (result: unknown, dp: string | null): unknown => {
  if (dp === null) return result
  const text = JSON.stringify(result, (name, value) =>
    AMOUNTS.has(name) && /\d/.test(value) ? Number(value).toFixed(Number(dp)) : value,
  )
  return JSON.parse(text)
}
