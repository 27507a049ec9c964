/** Personal data that pass through the functions wherever others choose the words, and never reach a log line. */
export const NAME = 'Neda Rahimi'
const EMAIL = 'neda@example.com'
const MOBILE = '+989127654321'
export const REASON = 'گمشده'
export const CUSTOMER = { name: NAME, mobile: MOBILE, email: EMAIL }

/** The words of the accounting service in a refusal. */
export const REFUSAL = { message: `${NAME}: ${REASON}`, field: EMAIL }

/** The name within base64, wherever a group of three bytes begins. */
const IN_BASE64 = [0, 1, 2].map(before =>
  Buffer.from(' '.repeat(before) + NAME)
    .toString('base64')
    .slice(4, 12),
)

/** What must be in no line: these, in the forms that code makes of them, and the secrets of the harness. */
const PRIVATE = new RegExp(
  [
    ...['Neda', 'Rahimi', 'neda@', MOBILE.slice(3), REASON, ...IN_BASE64],
    ...['whsec_', 'store-key-of', 'accounting-key-of'],
  ].join('|'),
)

/** An error as libraries make them, with everything about the request. */
export const leakyError = (message: string): Error =>
  Object.assign(new Error(message, { cause: new Error(NAME) }), { rawPacket: NAME, request: CUSTOMER })

/** A log line that has personal data or a secret, or undefined. What an error carries counts as logged. */
export const leakIn = (message: string, fields?: object, error?: unknown): string | undefined => {
  const { cause } = error instanceof Error ? error : {}
  const line = JSON.stringify([message, fields, String(error), error, cause && String(cause)])
  return PRIVATE.test(line) ? line : undefined
}
