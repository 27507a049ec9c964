import { setTimeout as sleep } from 'node:timers/promises'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Fault } from '../faults.ts'
import type { Environment } from './endpoint.ts'
import { refuse, respond } from './respond.ts'

const FAULT = { error: { code: 'fault', message: 'The service fails on purpose' } }

/**
 * Answers a request with a fault.
 *
 * @param answer does the work
 * @param stopping ends the wait of a slow answer
 */
export const answerWith = async (
  { kind, delay, status, retryAfter }: Fault,
  context: Context<Environment>,
  answer: () => Promise<Response>,
  stopping: AbortSignal,
): Promise<Response> => {
  const reset = () => {
    context.env.incoming.socket.resetAndDestroy()
    return RESPONSE_ALREADY_SENT
  }
  switch (kind) {
    case 'reset':
      return reset()
    case 'lose':
      await answer().catch(error => refuse(context, error))
      return reset()
    case 'slow':
      await sleep(delay, undefined, { signal: stopping }).catch(() => undefined)
      return answer()
    case 'error': {
      const headers = retryAfter === null ? {} : { 'retry-after': String(retryAfter) }
      return respond(context, status as ContentfulStatusCode, FAULT, headers)
    }
  }
}
