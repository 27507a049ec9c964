import { AccountingError } from '../lib/accounting/errors.ts'
import { cannot, Failure } from './failure.ts'
import type { Place } from './place/place.ts'

const named = (error: unknown): { name: string; code: string; message: string } =>
  error instanceof Error
    ? { name: error.name, code: 'code' in error ? String(error.code) : '', message: error.message }
    : { name: '', code: '', message: String(error) }

const isUnreachable = ({ name, code }: { name: string; code: string }) =>
  ['ECONNREFUSED', 'ENOTFOUND', 'ECONNRESET', 'EAI_AGAIN', 'ETIMEDOUT'].includes(code) ||
  name === 'TimeoutError' ||
  name === 'NetworkingError'

/** Turns what an AWS SDK or the accounting client throws into what a person can act on. */
export const explain = (error: unknown, place: Place): Failure => {
  if (error instanceof Failure) return error
  if (error instanceof AccountingError) return explainAccounting(error, place)
  const { name, code, message } = named(error)
  if (isUnreachable({ name, code })) {
    return place.local
      ? cannot(
          'reach the local stack',
          `nothing answers (${message || code})`,
          'start it with: npm start',
          error,
        )
      : cannot('reach AWS', message || code, 'check the network and --region', error)
  }
  if (
    /^(CredentialsProviderError|ExpiredToken|UnrecognizedClient|InvalidClientTokenId|TokenProviderError)/.test(
      name,
    )
  ) {
    return cannot('use AWS', message, 'sign in (AWS_PROFILE, aws sso login), or use --local', error)
  }
  if (/AccessDenied/.test(name)) return cannot('use AWS', message, 'ask for this right', error)
  if (/^(ResourceNotFoundException|QueueDoesNotExist|AWS\.SimpleQueueService\.NonExistentQueue)/.test(name)) {
    return cannot(
      `find the relay's tables and queues`,
      `${place.title} does not have them`,
      place.local ? 'start it with: npm start' : 'deploy it, or name another with --stage and --region',
      error,
    )
  }
  return cannot('finish', message === '' ? name : message, undefined, error)
}

const explainAccounting = (error: AccountingError, { flags }: Place): Failure =>
  error.code === 'unauthorized'
    ? cannot(
        'use the accounting service',
        `it answered ${error.status}: ${error.message}`,
        `give a key with the scope orders.write: relay key set${flags}`,
        error,
      )
    : cannot('use the accounting service', error.message, undefined, error)
