import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Context } from '../core/context.ts'
import { shellWord } from '../core/output.ts'
import type { FeedMessageView } from './messages.ts'

/** Why the store has not received a message; undefined if it has, or if that is unknown. */
const reasonOf = (message: FeedMessageView, now: number): string | undefined => {
  const { last } = 'last' in message ? message : {}
  const error = last?.error === undefined ? '' : `: ${last.error}`
  const planned = last?.next_at
  const next =
    planned !== undefined && Date.parse(planned) > now
      ? `the next attempt is planned for ${planned}`
      : 'the next attempt is due'
  switch (message.state) {
    case 'failing':
      return `the last attempt failed at ${message.last.at}${error}; ${next}`
    case 'unsent':
      if (message.secret_is_set)
        return `the store had no signing secret at ${message.last.at}, and has one now; ${next}`
      return `the store was not called at ${message.last.at}${error}; ${next}`
    case 'queued': {
      const replayed =
        message.replayed_at === undefined
          ? ''
          : `an operator replayed its dead letter at ${message.replayed_at}, and `
      return message.behind === undefined
        ? `${replayed}it waits in the queue of the feed`
        : `${replayed}it waits behind the message ${message.behind}`
    }
    case 'failing or dead':
      return `the last attempt failed at ${message.last.at}${error}; it may be a dead letter behind another one of the order`
    case 'stopped':
      return `the last attempt failed at ${message.last.at}${error}; stores.yml no longer has the store`
    case 'dead':
      return `it became a dead letter at ${message.since}${error}`
    case 'deleted':
      return `an operator deleted its dead letter at ${message.last.at}`
    default:
      return undefined
  }
}

/**
 * Sentences about the messages of an order that its store has not received, newest first.
 *
 * @param listed the dead letters that are described elsewhere
 */
export const undeliveredTexts = (
  { flags }: Pick<Context, 'flags'>,
  { source, external_id }: OrderKey,
  messages: readonly FeedMessageView[],
  listed: readonly { delivery?: string | undefined }[],
  now = Date.now(),
): string[] =>
  messages.flatMap((message, position) => {
    const { event, version, delivery, state } = message
    const reason = reasonOf(message, now)
    if (reason === undefined || listed.some(each => each.delivery === delivery)) return []
    const resend = `relay stores resend ${shellWord(source)} --order ${shellWord(external_id)}${flags}`
    return [
      `The store has not received ${event}, version ${version} (message ${delivery}): ${reason}.`,
      // A later message has the state of the order.
      ...(state === 'deleted' && position === 0
        ? [`To send it the current state of the order, run ${resend}`]
        : []),
    ]
  })
