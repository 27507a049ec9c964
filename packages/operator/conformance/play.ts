import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Patience, within } from '../core/async.ts'
import { usageError } from '../core/errors.ts'
import type { Finding } from '../core/findings.ts'
import { count, note, ok, problem, shellWord } from '../core/output.ts'
import { progress, type Terminal } from '../core/terminal.ts'
import { messageMaker } from '../model/sample-messages.ts'
import { type Check, feedChecks, httpChecks, killChecks, NOT_EXACT, type Play } from './checks.ts'
import type { Feed } from './feed.ts'
import type { HttpSend } from './http-feed.ts'
import { faultIn, type Outcome, placesIn, repeatedIn } from './log.ts'
import { StoreExited, type StoreProcess } from './store-process.ts'

/** No real order has such an id: the id of every test order begins with this. */
export const PREFIX = 'relay-conformance-'

export type Playing = Patience & {
  source: string
  /** Begins the id of every test order. @default a new one */
  run?: string
  /** The options that select its relay, such as ` --local`. @default none */
  flags?: string
  /** Whether the store is exact. @default false */
  exact?: boolean | undefined
  feed: Feed
  /** The current secret of an HTTP feed. */
  http?: { send: HttpSend; secret: () => Promise<string> }
  /** The store, if it may be killed and started. */
  store?: StoreProcess
  /** Text with the `delivery` of each handled message, once, in the sequence of handling. */
  handled?: () => Promise<string>
  /** Checks to run after the first. @default all */
  only?: readonly string[]
  /** Where progress is shown. */
  terminal: Terminal
  onFinding?: ((finding: Finding) => void) | undefined
}

/** How long to watch for messages that the store should not handle. */
const SETTLE_MS = 150

export const FIRST = 'delivery'
const NEEDS_HANDLED = 'specify the log of handled messages (--handled)'
/** A log does not show whether a transaction was committed. */
const CHECK_REPEATED =
  'this is correct only if the kill rolled back the first transaction; otherwise, the change was applied twice: remember deliveries and write the log in the transaction that handles a message'
const EXACT_MESSAGES = 'the store is exact: its messages have no version and are order.updated'

const LAST_LINES = 20

/** The last output of a store, such as the error that keeps it from handling messages. */
const lastWords = async (store: StoreProcess | undefined) => {
  const printed = (await store?.output())?.trimEnd() ?? ''
  const last = printed.split('\n').slice(-LAST_LINES)
  return printed === ''
    ? ''
    : ['; its last output:', ...last.map(line => line.slice(0, 300))].join('\n        ')
}

/**
 * Runs every check that can be judged for a store, with one finding each.
 *
 * @throws Failure if there is no check of a name in `only`; the signal's reason when aborted, and the store is then not
 * restarted
 */
export const play = async (options: Playing): Promise<readonly Finding[]> => {
  const {
    source,
    run = `${PREFIX}${randomUUID()}`,
    flags = '',
    exact = false,
    feed,
    http,
    store,
    handled,
    only,
    signal,
    terminal,
    onFinding,
  } = options
  const startsStore = `run relay conformance ${shellWord(source)}${flags} -- <command that starts the store>`
  const patience = {
    wait: options.wait,
    signal,
    assertUseful: store?.assertAlive,
    onWait: options.onWait,
  }
  const start = () => {
    signal?.throwIfAborted()
    return feed.resume(async () => store?.start())
  }
  const stage: Play = {
    exact,
    feed,
    message: messageMaker({ source, exact }, run),
    timesHandled: async message => placesIn((await handled?.()) ?? '', message).length,
    untilHandled: async (which, messages) =>
      handled &&
      within(patience, async () => {
        const text = await handled()
        return messages[which](message => placesIn(text, message).length > 0) || undefined
      }),
    async whileKilled(work) {
      store?.assertAlive()
      await store?.kill()
      await work()
      await start()
    },
  }

  const playUnlessExited = async (playCheck: Check['play']): Promise<Outcome & { exited?: true }> => {
    try {
      if (store?.isRunning() === false) await start()
      const outcome = await playCheck()
      if (!outcome.wrong) await stage.untilHandled('every', outcome.handled ?? [])
      await sleep(SETTLE_MS)
      store?.assertAlive()
      return outcome
    } catch (error) {
      if (!(error instanceof StoreExited)) throw error
      await sleep(SETTLE_MS)
      const { message } = error
      const wrong = `exited ${message}: nothing is handled until it is restarted`
      return { exited: true, wrong, remedy: 'find the reason for its exit in its output' }
    }
  }

  const judge = async (name: string, { play: playCheck, when, remedy }: Check): Promise<Finding> => {
    const { exited, ...played } = await playUnlessExited(playCheck)
    const outcome = { ...played, mayRepeat: played.mayRepeat === true && store !== undefined }
    const expected = outcome.handled ?? []
    const log = await handled?.()
    const fault = outcome.wrong || log === undefined ? outcome : faultIn(feed, log, outcome)
    const why = name === FIRST || exited ? await lastWords(store) : ''
    if (fault?.wrong) return problem(name, `${when}, the store ${fault.wrong}${why}`, fault.remedy ?? remedy)
    if (log !== undefined) {
      if (expected.length === 0) return ok(name, `${when}, the store handled nothing`)
      const repeated = repeatedIn(log, outcome)
      if (repeated === 0) return ok(name, `${when}, the store handled each change once and in order`)
      const again = `it handled ${count(repeated, 'message')} again after it was killed and restarted`
      return ok(
        name,
        `${when}, the store handled each change at least once and in order; ${again}`,
        CHECK_REPEATED,
      )
    }
    const did =
      expected.length === 0
        ? `${outcome.answered}; whether it handled the message is unknown`
        : 'acknowledged everything; which messages it handled is unknown'
    return note(name, `${when}, the store ${did}`, `${NEEDS_HANDLED}, or ${startsStore}`)
  }

  const kills = killChecks(stage)
  const { failures, ...always } = feedChecks(stage)
  // A message can be removed from a queue only while its consumer is down.
  const [ofFeed, ofStore] = http ? [{ failures }, kills] : [{}, { failures, ...kills }]
  const all: Record<string, Check> = {
    ...always,
    ...ofFeed,
    ...(http && httpChecks(stage, http)),
    ...(store && handled && ofStore),
  }
  const names = Object.keys({ ...all, ...ofStore })
  const misspelled = only?.find(name => !names.includes(name))
  if (misspelled !== undefined) {
    const found = `its feed has no check "${misspelled}"`
    throw usageError(`test the store "${source}"`, found, `the checks are ${names.join(', ')}`)
  }
  const isApplicable = (name: string) => !exact || !NOT_EXACT.has(name)
  const checks = Object.fromEntries(Object.entries(all).filter(([name]) => isApplicable(name)))
  const inapplicable = Object.keys(all).filter(name => !isApplicable(name))
  const chosen = Object.entries(checks).filter(([name]) => name === FIRST || only?.includes(name) !== false)
  const findings: Finding[] = []
  using shown = progress(terminal, 'Checking', chosen.length)
  const add = (finding: Finding) => {
    findings.push(finding)
    shown.clear()
    onFinding?.(finding)
  }
  const leftover = async () => (await playUnlessExited(async () => (await feed.settle()) ?? {})).wrong
  for (const [name, check] of chosen) {
    const before = findings.at(-1)
    // Messages left by one check would be taken for those of the next.
    if (before?.level === 'problem' && (before.check === FIRST || (await leftover()))) {
      add(note('other checks', 'not judged', `first fix "${before.check}"`))
      return findings
    }
    signal?.throwIfAborted()
    add(await judge(name, check))
    shown.advance()
  }
  if (inapplicable.length > 0) add(note(inapplicable.join(', '), 'not applicable', EXACT_MESSAGES))
  if (store === undefined) add(note(Object.keys(ofStore).join(', '), 'not judged', startsStore))
  return findings
}
