export type FetchOptions = {
  /** @default GET */
  method?: string
  /** JSON; a string is sent unchanged. */
  body?: unknown
  /** The bearer key. @default none */
  key?: string | null | undefined
  headers?: Record<string, string>
}

/** Sends a JSON request and reads the response; a body that is not JSON becomes null. */
export const fetchJson = async (
  url: string,
  { method = 'GET', body, key, headers = {} }: FetchOptions = {},
) => {
  const response = await fetch(url, {
    method,
    headers: {
      ...(typeof key === 'string' && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? JSON.parse(text) : null,
  }
}
