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
