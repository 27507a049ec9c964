import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { orderUpdated } from '../../kit/src/testing.ts'
import { type Finding, note, ok, problem } from '../core/findings.ts'
import { progress, type Terminal } from '../core/terminal.ts'
import { type Check, feedChecks, httpChecks, killChecks, type Outcome, type Play } from './checks.ts'
import { type Feed, type HttpSend, type Patience, type Sent, within } from './feeds.ts'
import type { StoreProcess } from './store.ts'

/** No store has such an order: every id of a run begins with this and the run's own number. */
export const PREFIX = 'relay-conformance-'

export type Playing = Patience & {
  source: string
  feed: Feed
  /** Of an HTTP feed. */
  http?: { send: HttpSend; secret: string }
  /** The store, if it may be killed and started. */
  store?: StoreProcess
  /** Text that has the `delivery` of each message that the store has handled, once, in the order of handling. */
  handled?: () => Promise<string>
  /** Which checks, after the first. @default all */
  only?: readonly string[]
  /** Where progress is shown. */
  terminal: Terminal
  onFinding?: ((finding: Finding) => void) | undefined
}

/** Within this time a store notes what it should not have handled. */
const SETTLE_MS = 150

const FIRST = 'delivery'
const NEEDS_HANDLED = 'pass --handled, or the command that starts the store'
const NEEDS_STORE = 'pass the command that starts the store after "--"'

const placesIn = (text: string, { delivery }: Sent) =>
  [...text.matchAll(new RegExp(delivery, 'g'))].map(({ index }) => index)

/** What the store did wrong, by the text in which it notes what it handles. */
const faultIn = (text: string, { handled = [], dropped = [], mayRepeat = false }: Outcome) => {
  const taken = dropped.find(message => placesIn(text, message).length > 0)
  if (taken !== undefined) return `handled version ${taken.version}, which it must drop: the order is wrong`
  const last = new Map<string, { at: number; version: number }>()
  for (const message of handled) {
    const { order, version } = message
    const [at, ...more] = placesIn(text, message)
    if (at === undefined)
      return `acknowledged version ${version} and did not handle it: a change of the order is lost`
    if (more.length > 0 && !mayRepeat)
      return `handled version ${version} ${more.length + 1} times: the order is doubled`
    const before = last.get(order.external_id)
    if (before !== undefined && before.at > at)
      return `handled version ${version} before version ${before.version}: the order is set back`
    last.set(order.external_id, { at, version })
  }
  return undefined
}

/** What a store has printed last, such as the error for which it handles nothing. */
const lastWords = async (store: StoreProcess | undefined) => {
  const words = (await store?.output())?.trim().split('\n').at(-1)?.slice(-300)
  return words ? `; it printed last: ${words}` : ''
}

/** Makes messages about orders whose ids begin with a prefix. */
export const messageMaker =
  (source: string, prefix: string): Play['message'] =>
  (order, version, event = 'order.updated') => {
    const message = { ...orderUpdated({ source, external_id: `${prefix}-${order}` }, version), event }
    const { delivery, data } = message
    return { order: data, version, event, delivery, json: JSON.stringify(message) }
  }

/**
 * Plays every check that can be judged against a store; a finding names each.
 *
 * @throws the reason of the signal that breaks it off; the store is then not started again
 */
export const play = async (options: Playing): Promise<readonly Finding[]> => {
  const { source, feed, http, store, handled, only, signal, terminal, onFinding } = options
  const start = () => {
    signal?.throwIfAborted()
    return feed.resume(async () => store?.start())
  }
  const stage: Play = {
    feed,
    message: messageMaker(source, `${PREFIX}${randomUUID().slice(0, 8)}`),
    timesHandled: async message => placesIn((await handled?.()) ?? '', message).length,
    untilHandled: async (which, messages) =>
      handled &&
      within(options, async () => {
        const text = await handled()
        return messages[which](message => placesIn(text, message).length > 0) || undefined
      }),
    async whileKilled(work) {
      await store?.kill()
      await work()
      await start()
    },
  }

  const judge = async (name: string, { play: playCheck, when, remedy }: Check): Promise<Finding> => {
    if (store?.isRunning() === false) await start()
    const ends = store?.ends()
    const outcome = await playCheck()
    const expected = outcome.handled ?? []
    if (!outcome.wrong) {
      await stage.untilHandled('every', expected)
      await sleep(SETTLE_MS)
    }
    const ended = store?.ends() !== ends && 'ended by itself: nothing is handled until it is started again'
    const wrong = ended || outcome.wrong || (handled && faultIn(await handled(), outcome))
    const why = name === FIRST || ended ? await lastWords(store) : ''
    if (wrong) return problem(name, `${when}, the store ${wrong}${why}`, remedy)
    if (expected.length === 0) return ok(name, `${when}, the store handled nothing`)
    if (handled !== undefined) return ok(name, `${when}, the store handled each change once and in order`)
    return note(
      name,
      `${when}, the store acknowledged everything; what it handled is not known`,
      NEEDS_HANDLED,
    )
  }

  const kills = killChecks(stage)
  const { failures, ...always } = feedChecks(stage)
  // A message can be taken back from a queue only while its consumer is down.
  const [ofFeed, ofStore] = http ? [{ failures }, kills] : [{}, { failures, ...kills }]
  const checks: Record<string, Check> = {
    ...{ ...always, ...ofFeed },
    ...(http && httpChecks(stage, http)),
    ...(store && handled && ofStore),
  }
  const chosen = Object.entries(checks).filter(([name]) => name === FIRST || only?.includes(name) !== false)
  const findings: Finding[] = []
  const add = (finding: Finding) => {
    findings.push(finding)
    onFinding?.(finding)
  }
  using shown = progress(terminal, 'Checking', chosen.length)
  for (const [name, check] of chosen) {
    const before = findings.at(-1)
    // What one check has left would be taken for the next one's.
    if (before?.level === 'problem' && (before.check === FIRST || (await feed.settle()) !== undefined)) {
      add(note('other checks', 'not judged', `first fix "${before.check}"`))
      return findings
    }
    signal?.throwIfAborted()
    add(await judge(name, check))
    shown.advance()
  }
  for (const name of only ?? [])
    if (!(name in checks)) add(note(name, 'not judged', 'it is no check of this feed, or needs the store'))
  if (store === undefined) add(note(Object.keys(ofStore).join(', '), 'not judged', NEEDS_STORE))
  return findings
}
