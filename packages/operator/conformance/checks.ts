import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { FEED_TEST } from '@order-relay/lib/feeds/deliver.ts'
import { TOLERANCE_SECONDS } from '@order-relay/lib/protocol/signature.ts'
import { within } from '../core/async.ts'
import { spacedJson } from '../core/webhook.ts'
import type { Sent } from '../model/sample-messages.ts'
import type { Fault, Feed } from './feed.ts'
import { type HttpSend, refused } from './http-feed.ts'
import type { Outcome } from './log.ts'

/** The fixture of the checks. */
export type Play = {
  /** Whether the store is exact. */
  exact: boolean
  feed: Feed
  /** A message about a test order of this run. */
  message: (order: string, version: number, event?: string) => Sent
  /** How often the store has handled a message, if known. */
  timesHandled: (message: Sent) => Promise<number>
  /** Resolves once the store has handled one of these, or all, or the time is up. */
  untilHandled: (which: 'some' | 'every', messages: readonly Sent[]) => Promise<unknown>
  /** Runs the work while the store is down, if the command may kill it. */
  whileKilled: (work: () => Promise<void>) => Promise<void>
}

export type Check = {
  /** Begins the sentence about what the store did. */
  when: string
  remedy: NonNullable<Fault['remedy']>
  play: () => Promise<Outcome>
}

const REMEMBER = 'remember the version and deliveries of an order in the transaction that handles a message'
const REMEMBER_EXACT = 'remember deliveries in the transaction that handles a message'
const rememberOf = ({ exact }: Play) => (exact ? REMEMBER_EXACT : REMEMBER)

/** The checks that do not apply to an exact store: its messages have no version, and all are `order.updated`. */
export const NOT_EXACT: ReadonlySet<string> = new Set([
  'same version',
  'old versions',
  'reordering',
  'test message',
])

/** An event that some stores do not know. */
const OTHER_EVENT = 'order.rejected'

/** How long after its acknowledgement the delivery of a message may appear in the log, in seconds. */
const NOTED_SECONDS = 1

/** How soon a store tries the message after one that it has handled. */
const TRY_MS = 1000

const three = (message: Play['message'], order: string) =>
  [1, 2, 3].map(version => message(order, version)) as [Sent, Sent, Sent]

/** Three messages of each of twenty orders, whose versions differ. */
const backlog = (message: Play['message'], name: string) =>
  [0, 1, 2].flatMap(step =>
    Array.from({ length: 20 }, (_, order) => message(`${name}-${order}`, 20 - order + step)),
  )

/** The checks for both kinds of feed. */
export const feedChecks = (play: Play) => {
  const { feed, message, timesHandled, untilHandled, whileKilled } = play
  /** By default, the expected outcome is that everything is handled. */
  const deliver = async (published: readonly Sent[], outcome: Outcome = {}): Promise<Outcome> => {
    await feed.publish(published)
    return { handled: published, ...(await feed.settle()), ...outcome }
  }
  return {
    delivery: {
      when: 'When the first message arrived',
      remedy: feed.startRemedy,
      play: async () => {
        const { firstRemedy: remedy, ...outcome } = await deliver([message('first', 1)])
        return { ...(remedy && { remedy }), ...outcome }
      },
    },
    duplicates: {
      when: 'When messages were repeated',
      remedy: rememberOf(play),
      play: () => {
        const [first, second] = three(message, 'duplicate')
        return deliver([first, first, second, second, first], { handled: [first, second] })
      },
    },
    'same version': {
      when: 'When another event or another message of the same version arrived',
      remedy: 'compare the delivery, too, when the version is the last one',
      play: async () => {
        const [other, first, second] = [
          message('other-event', 1, OTHER_EVENT),
          message('same', 1),
          message('same', 1, OTHER_EVENT),
        ]
        const { wrong } = await deliver([other])
        if (wrong) return { wrong, remedy: 'acknowledge events that the store does not know' }
        // A store may ignore such events, and then does not log their deliveries.
        const isNoted = await within(
          { wait: NOTED_SECONDS },
          async () => (await timesHandled(other)) > 0 || undefined,
        )
        const handled = isNoted ? [other, first, second] : [first]
        return deliver([first, second, first], { handled })
      },
    },
    'old versions': {
      when: 'When an older version arrived late',
      remedy: REMEMBER,
      play: () => {
        const [late, newer] = three(message, 'old')
        return deliver([newer, late], { handled: [newer], dropped: [late] })
      },
    },
    reordering: {
      when: 'When the messages of many orders were interleaved',
      remedy:
        'remember versions by source and external_id, compare them as numbers, and handle the messages of an order one by one',
      play: () => deliver(backlog(message, 'mixed')),
    },
    failures: {
      when: 'When one message of a batch had no data',
      remedy: feed.failureRemedy,
      play: async () => {
        const [before, { json: _, ...unread }, after] = three(message, 'failed')
        const broken = { ...unread, json: JSON.stringify(unread) }
        const others = three(message, 'other')
        // A starting SQS consumer receives them in one batch.
        await whileKilled(() => feed.publish([before, broken, after, ...others]))
        await untilHandled('every', [before, ...others])
        await sleep(TRY_MS)
        const overtook = (await timesHandled(after)) > 0
        let kept: Awaited<ReturnType<Feed['takeBack']>> = 'no'
        await whileKilled(async () => {
          kept = await feed.takeBack(broken, after)
        })
        if (typeof kept === 'object') return kept
        if (kept === 'no') return { wrong: feed.lost(broken).wrong }
        if (overtook)
          return {
            wrong:
              'handled version 3 before version 2, which had failed: the order reverts to an older state',
          }
        return { handled: [before, after, ...others], ...(await feed.settle()), mayRepeat: true }
      },
    },
  } satisfies Record<string, Check>
}

const UNAUTHORIZED = 'it answered 401'

/** The remedy for a lost message in a check of signatures, whose own remedy is about signatures. */
const KEEP =
  'acknowledge a message only after it is handled, and compare it only with messages of the same order'

const RAW_BODY = 'verify the bytes of the body before anything parses it'

/** The checks for HTTP feeds. */
export const httpChecks = (
  play: Play,
  { send, secret }: { send: HttpSend; secret: () => Promise<string> },
): Record<string, Check> => {
  const { exact, feed, message } = play
  const other = `whsec_${Buffer.from(randomUUID()).toString('base64')}`
  const shifted = (seconds: number) => ({ now: () => Date.now() + seconds * 1000 })
  const outside = TOLERANCE_SECONDS + 60
  const lost: Feed['lost'] = sent => ({ ...feed.lost(sent), remedy: KEEP })
  return {
    signatures: {
      when: 'When a signature was not valid',
      remedy: `verify X-Service-Signature over the raw body, and its t within ${TOLERANCE_SECONDS} seconds; answer 401`,
      play: async () => {
        const forged = message('forged', 1)
        for (const signed of [{ secrets: [other] }, shifted(-outside), shifted(outside)]) {
          const answer = (await send(forged, signed)) ?? 'it acknowledged the message'
          const how = 'now' in signed ? 'was signed at another time' : 'was signed with another secret'
          if (answer !== UNAUTHORIZED)
            return { wrong: `did not return 401 to a message that ${how}: ${answer}` }
        }
        return { dropped: [forged], answered: 'answered 401' }
      },
    },
    'raw body': {
      when: 'When the JSON of a message contained whitespace',
      remedy: RAW_BODY,
      play: async () => {
        const compact = message('raw', 1)
        const spaced = { ...compact, json: spacedJson(JSON.parse(compact.json)) }
        const failure = await send(spaced)
        return { handled: [spaced], wrong: failure && refused(spaced, failure), lost }
      },
    },
    'secret rotation': {
      when: 'While its secret was being rotated, and afterwards',
      remedy: exact
        ? 'answer 401 to a message signed with another secret; the relay then signs it with the replaced one'
        : 'compare every v1 of X-Service-Signature',
      play: async () => {
        const handled = three(message, 'rotation')
        const current = await secret()
        const rotation = [[other, current], [current, other], [current]]
        for (const [index, sent] of handled.entries()) {
          const failure = await send(sent, { secrets: rotation[index] ?? [] })
          if (failure !== undefined) return { wrong: refused(sent, failure) }
        }
        return { handled, lost }
      },
    },
    'test message': {
      when: `When "relay stores test" sent ${FEED_TEST}, which has no order`,
      remedy: 'answer 2xx and do nothing',
      play: async () => {
        const compact = message('test', 0, FEED_TEST)
        const test = { ...compact, json: spacedJson(JSON.parse(compact.json)) }
        const failure = await send(test)
        return {
          dropped: [test],
          answered: `acknowledged ${FEED_TEST}`,
          wrong: failure && `did not acknowledge ${FEED_TEST} (${failure}): the test of its endpoint fails`,
          ...(failure === UNAUTHORIZED && { remedy: RAW_BODY }),
        }
      },
    },
    'time-outs': {
      when: 'When a message was repeated while it was still being handled, as after a timeout',
      remedy: `${rememberOf(play)}, which begins by locking the order, and answer 2xx to messages that were handled before`,
      play: async () => {
        const slow = message('slow', 1)
        await Promise.all(Array.from({ length: 5 }, () => send(slow)))
        await feed.publish([slow])
        return { handled: [slow], ...(await feed.settle()) }
      },
    },
  }
}

/** Checks that require that the command may kill the store and knows what it has handled. */
export const killChecks = (play: Play): Record<string, Check> => {
  const { feed, message, untilHandled, whileKilled } = play
  return {
    restarts: {
      when: 'After a restart',
      remedy: `${rememberOf(play)}, in a database`,
      play: async () => {
        const handled = three(message, 'restart')
        const before = handled.slice(0, 2)
        await feed.publish(before)
        await feed.settle()
        await untilHandled('every', before)
        await whileKilled(() => feed.publish([...before.toReversed(), ...handled]))
        return { handled, ...(await feed.settle()) }
      },
    },
    outages: {
      when: 'After an outage',
      remedy: 'handle the messages of an order one by one, however many orders wait',
      play: async () => {
        const handled = backlog(message, 'outage')
        await whileKilled(() => feed.publish(handled))
        return { handled, ...(await feed.settle()) }
      },
    },
    kills: {
      when: 'When it was killed while handling a message',
      remedy: feed.killRemedy,
      play: async () => {
        const handled = backlog(message, 'kill')
        const { promise: acknowledged, resolve } = Promise.withResolvers<void>()
        const published = feed.publish(handled, resolve)
        // At the first acknowledgement: a store that handles messages only afterwards loses them.
        await Promise.race([acknowledged, untilHandled('some', handled)])
        await whileKilled(() => published)
        return { handled, ...(await feed.settle()), mayRepeat: true, lost: feed.lostAtKill }
      },
    },
  }
}
