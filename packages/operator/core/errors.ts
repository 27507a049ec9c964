import { AccountingError } from '@order-relay/lib/accounting/errors.ts'

/** Exit codes: success; something needs attention or failed; usage error. */
export const EXIT = { ok: 0, failure: 1, usage: 2 } as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** An error with a message for the person at the terminal. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly exit: ExitCode

  constructor(message: string, { exit = EXIT.failure, cause }: { exit?: ExitCode; cause?: unknown } = {}) {
    super(message, { cause })
    this.exit = exit
  }
}

const sentence = (action: string, found: string, remedy?: string) =>
  `Cannot ${action}: ${found}${remedy === undefined ? '' : `; ${remedy}`}`

/**
 * "Cannot <action>: <state found>; <remedy>".
 *
 * @param cause the original error, shown with --verbose
 */
export const cannot = (action: string, found: string, remedy?: string, cause?: unknown): Failure =>
  new Failure(sentence(action, found, remedy), { cause })

/** The arguments are invalid or contradictory. */
export const usageError = (action: string, found: string, remedy?: string): Failure =>
  new Failure(sentence(action, found, remedy), { exit: EXIT.usage })

const property = (error: unknown, name: string): string =>
  typeof error === 'object' && error !== null && name in error ? String(Reflect.get(error, name)) : ''

export const messageOf = (error: unknown): string => property(error, 'message') || String(error)

/** The service's message, if any; for the terminal only, never for a log. */
export const serviceMessage = ({ reason, message }: AccountingError): string =>
  reason === undefined ? message : `${reason.status} ${reason.message}`

const NETWORK_CODES = ['ECONNREFUSED', 'ENOTFOUND', 'ECONNRESET', 'EAI_AGAIN', 'ETIMEDOUT']
const NETWORK_ERRORS = ['TimeoutError', 'NetworkingError']
const SIGN_IN =
  /^(CredentialsProviderError|ExpiredToken|UnrecognizedClient|InvalidClientTokenId|TokenProviderError)/
const MISSING = /^(ResourceNotFoundException|QueueDoesNotExist|AWS\.SimpleQueueService\.NonExistentQueue)/

/** The ports of the local stack are in its data directory, too. */
export const START_LOCAL =
  'start it with: npm start; if it already runs, set ORDER_RELAY_DATA to its data directory'

/** Turns an error of an AWS SDK or of the accounting client into one that says what to do about it. */
export const explain = (
  error: unknown,
  { local, title, flags }: { local: boolean; title: string; flags: string },
): Failure => {
  if (error instanceof Failure) return error
  if (error instanceof AccountingError) {
    const remedy = `set a key with the scope orders.write: relay key set${flags}`
    const isRefused = error.code === 'unauthorized'
    return cannot('use the accounting service', serviceMessage(error), isRefused ? remedy : undefined, error)
  }
  const [name, code] = [property(error, 'name'), property(error, 'code')]
  const message = property(error, 'message')
  if (NETWORK_CODES.includes(code) || NETWORK_ERRORS.includes(name)) {
    return local
      ? cannot('reach the local stack', `no response (${message || code})`, START_LOCAL, error)
      : cannot('reach AWS', message || code, 'check the network and --region', error)
  }
  if (SIGN_IN.test(name)) {
    return local
      ? cannot('use the local stack', message, undefined, error)
      : cannot('use AWS', message, 'sign in (AWS_PROFILE, aws sso login), or use --local', error)
  }
  if (/AccessDenied/.test(name)) return cannot('use AWS', message, 'request this permission', error)
  if (MISSING.test(name)) {
    const remedy = local ? START_LOCAL : 'deploy it, or choose another with --stage and --region'
    return cannot("find the relay's tables and queues", `${title} does not have them`, remedy, error)
  }
  return cannot('finish', message || name || String(error), undefined, error)
}
