export const ONE_MEBIBYTE = 1024 * 1024

/** The status that answers a request, and an error for people. */
export type Outcome = { status: 200 | 400 | 401 | 413 | 500; error?: string }

export const tooLarge = (maxBytes: number): Outcome => ({
  status: 413,
  error: `The body is larger than ${maxBytes} bytes`,
})

/** Reports a mistake in the store's code that prevents a request from being received. */
export const reported = (message: string, onError?: (error: unknown) => void): Outcome => {
  onError?.(new TypeError(message))
  return { status: 500, error: message }
}
