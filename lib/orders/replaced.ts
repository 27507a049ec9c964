import { isDeepStrictEqual } from 'node:util'
import type { OrderResult } from '../protocol/order.ts'
import type { EndedRequests, Order, Replaced } from './order.ts'

/** How long after a save the stores' API may still read the saved result, in milliseconds: longer than its polling interval. */
const READ_MS = 5000

/**
 * Larger than a result of the spec. Differences above this size are not kept, and the answer then has the current
 * result.
 */
const MAX_BYTES = 1024

/** The order result with which the service answered a request, while its store may be waiting for it. */
export const answeredResult = (result: OrderResult | undefined, { replaced = [] }: EndedRequests) => ({
  ...result,
  ...Object.fromEntries(replaced),
})

const differences = (answer: Record<string, unknown>, result: OrderResult): Replaced =>
  [...new Set([...Object.keys(answer), ...Object.keys(result)])]
    .filter(name => !isDeepStrictEqual(answer[name], result[name]))
    .map(name => (answer[name] === undefined ? [name] : [name, answer[name]]))

/**
 * Keeps the answers to ended requests whose fields a new result replaces: a payment directly behind a create may be
 * saved before the stores' API has read the answer to the create. Keeps them for the last requests of each kind and
 * state, until a later change of the order.
 *
 * @param sinceSave time since `before` was saved, in milliseconds
 */
export const keepAnswers = (before: Order, after: Order, sinceSave: number): Order => {
  const { result } = after
  if (before.result === undefined || result === undefined || isDeepStrictEqual(before.result, result))
    return after
  const isKept = (request: EndedRequests) =>
    sinceSave < READ_MS &&
    (request.state === 'registered' || request.state === 'duplicate') &&
    request === before.ended.findLast(({ kind, state }) => kind === request.kind && state === request.state)
  const ended = after.ended.map(request => {
    // It has ended with this result.
    if (!before.ended.includes(request)) return request
    const { replaced: _, ...rest } = request
    if (!isKept(request)) return rest
    const replaced = differences(answeredResult(before.result, request), result)
    return Buffer.byteLength(JSON.stringify(replaced)) > MAX_BYTES ? rest : { ...rest, replaced }
  })
  return { ...after, ended }
}
