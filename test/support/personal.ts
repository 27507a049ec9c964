/** Personal data in every text that others choose. It must not appear in a log line. */
export const NAME = 'Neda Rahimi'
const EMAIL = 'neda@example.com'
const MOBILE = '+989127654321'
export const REASON = 'گمشده'
export const CUSTOMER = { name: NAME, mobile: MOBILE, email: EMAIL }

/** The accounting service's message in a refusal. */
export const REFUSAL = { message: `${NAME}: ${REASON}`, field: EMAIL }

/** The name within base64, at each of the three byte offsets. */
const IN_BASE64 = [0, 1, 2].map(before =>
  Buffer.from(' '.repeat(before) + NAME)
    .toString('base64')
    .slice(4, 12),
)

/** Texts that no log line may contain: personal data in all encodings, and the secrets of the harness. */
const PRIVATE = new RegExp(
  [
    ...['Neda', 'Rahimi', 'neda@', MOBILE.slice(3), REASON, ...IN_BASE64],
    ...['whsec_', 'store-key-of', 'accounting-key-of'],
  ].join('|'),
)

/** An error as libraries throw it, with all data of the request. */
export const leakyError = (message: string): Error =>
  Object.assign(new Error(message, { cause: new Error(NAME) }), { rawPacket: NAME, request: CUSTOMER })

/** The log line if it contains personal data or a secret. Properties of a logged error count as logged. */
export const leakIn = (message: string, fields?: object, error?: unknown): string | undefined => {
  const { cause } = error instanceof Error ? error : {}
  const line = JSON.stringify([message, fields, String(error), error, cause && String(cause)])
  return PRIVATE.test(line) ? line : undefined
}
