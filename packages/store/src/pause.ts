/** Waits, at most until `signal` is aborted. */
export const pause = (milliseconds: number, signal: AbortSignal | undefined) =>
  new Promise<void>(resolve => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, signal?.aborted === true ? 0 : milliseconds)
    signal?.addEventListener('abort', end)
  })

/**
 * Seconds to wait before the next attempt: `Retry-After`, as a number or a date, up to half a minute; otherwise
 * exponential backoff with jitter.
 */
export const delayOf = (attempt: number, retryAfter = '') => {
  const isNumber = /^\d+$/.test(retryAfter)
  const asked = isNumber ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000
  return asked >= 0 ? Math.min(asked, 30) : Math.random() * 2 ** (attempt - 2)
}

/** How long the relay waits for the accounting service by default, in seconds. */
const DEFAULT_WAIT = 3
/** How long a response may take besides the wait, in milliseconds. */
const RESPONSE_MS = 500

/** The wait in seconds that ends before a timeout in milliseconds; undefined if the default wait does. */
export const shortWait = (timeout: number) => {
  const wait = Math.floor((timeout - RESPONSE_MS) / 1000)
  return wait < DEFAULT_WAIT ? Math.max(1, wait) : undefined
}
