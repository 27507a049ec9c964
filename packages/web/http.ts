import { translateMessage } from './messages.ts'
import { t } from './persian.ts'

/** A refusal of the service, with the field if it names one; status 0 if there was no response. */
export class Refusal extends Error {
  readonly status: number
  readonly field: string | undefined

  constructor(message: string, { status = 0, field }: { status?: number; field?: string | undefined } = {}) {
    super(message)
    this.status = status
    this.field = field
  }
}

/** The error message in the reader's language. */
export const messageOf = (error: unknown) =>
  translateMessage(error instanceof Error ? error.message : String(error))

/** @throws Refusal when the service refuses or cannot be reached */
export const request = async <Data>(
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<Data> => {
  const response = await fetch(path, {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Refusal(t('Cannot reach the service: is it still running?'))
  })
  const { status } = response
  const answer = await response.json().catch(() => undefined)
  if (response.ok) return answer
  const { message = t('The service answered {status}', { status }), field } = answer?.error ?? {}
  throw new Refusal(message, { status, field })
}

/** A query string without empty values. */
export const queryOf = (parameters: Record<string, string | number | null | undefined>) => {
  const given = Object.entries(parameters).filter(([, value]) => value != null && value !== '')
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}
