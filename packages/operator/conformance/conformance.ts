import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { feedQueueName } from '@order-relay/lib/platform/names.ts'
import { interruptible, type Patience, within } from '../core/async.ts'
import type { Cli } from '../core/command.ts'
import { type Context, storeNamed } from '../core/context.ts'
import { cannot, messageOf } from '../core/errors.ts'
import { durationOption } from '../core/options.ts'
import {
  count,
  type Finding,
  findingColor,
  findingsReport,
  findingText,
  note,
  ok,
  problem,
} from '../core/output.ts'
import { browse, depthOf, type QueueMessage } from '../core/queue.ts'
import { printLines, progress, type Terminal } from '../core/terminal.ts'
import { endpointOf } from '../stores/endpoints.ts'
import {
  type Check,
  faultIn,
  feedChecks,
  httpChecks,
  killChecks,
  NOT_EXACT,
  type Outcome,
  type Play,
  placesIn,
} from './checks.ts'
import {
  type Feed,
  type HttpSend,
  httpFeed,
  INVISIBLE,
  messageMaker,
  StoreExited,
  type StoreProcess,
  sqsFeed,
  storeProcess,
} from './feeds.ts'

/** No real order has such an id: every id of a run begins with this and the run's number. */
const PREFIX = 'relay-conformance-'

type Playing = Patience & {
  source: string
  /** Whether the store is exact. @default false */
  exact?: boolean | undefined
  feed: Feed
  /** The secret of an HTTP feed. */
  http?: { send: HttpSend; secret: string }
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

const FIRST = 'delivery'
const NEEDS_HANDLED = 'pass --handled, or the command that starts the store'
const EXACT_MESSAGES = 'the store is exact: its messages have no version and are order.updated'
const NEEDS_STORE = 'pass the command that starts the store after "--"'

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
 * @throws the signal's reason when aborted; the store is then not restarted
 */
export const play = async (options: Playing): Promise<readonly Finding[]> => {
  const { source, exact = false, feed, http, store, handled, only, signal, terminal, onFinding } = options
  const patience = { wait: options.wait, signal, assertUseful: store?.assertAlive }
  const start = () => {
    signal?.throwIfAborted()
    return feed.resume(async () => store?.start())
  }
  const stage: Play = {
    ...{ exact, feed },
    message: messageMaker({ source, exact }, `${PREFIX}${randomUUID().slice(0, 8)}`),
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
      return { exited: true, wrong, remedy: 'find the reason of its exit in its output' }
    }
  }

  const judge = async (name: string, { play: playCheck, when, remedy }: Check): Promise<Finding> => {
    const { exited, ...outcome } = await playUnlessExited(playCheck)
    const expected = outcome.handled ?? []
    const wrong = outcome.wrong || (handled && faultIn(await handled(), outcome))
    const why = name === FIRST || exited ? await lastWords(store) : ''
    if (wrong) return problem(name, `${when}, the store ${wrong}${why}`, outcome.remedy ?? remedy)
    if (expected.length === 0) return ok(name, `${when}, the store handled nothing`)
    if (handled !== undefined) return ok(name, `${when}, the store handled each change once and in order`)
    const found = `${when}, the store acknowledged everything; which messages it handled is unknown`
    return note(name, found, NEEDS_HANDLED)
  }

  const kills = killChecks(stage)
  const { failures, ...always } = feedChecks(stage)
  // A message can be removed from a queue only while its consumer is down.
  const [ofFeed, ofStore] = http ? [{ failures }, kills] : [{}, { failures, ...kills }]
  const all: Record<string, Check> = {
    ...{ ...always, ...ofFeed },
    ...(http && httpChecks(stage, http)),
    ...(store && handled && ofStore),
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
  for (const name of only ?? [])
    if (!(name in all)) add(note(name, 'not judged', 'it is no check of this feed, or needs the store'))
  if (inapplicable.length > 0) add(note(inapplicable.join(', '), 'not applicable', EXACT_MESSAGES))
  if (store === undefined) add(note(Object.keys(ofStore).join(', '), 'not judged', NEEDS_STORE))
  return findings
}

type Options = {
  handled?: string | undefined
  wait: number
  only?: string | undefined
  testStore?: boolean | undefined
}

/** The current content of a file or URL. */
const textAt = async (place: string): Promise<string> => {
  try {
    if (!/^https?:/.test(place)) return await readFile(place, 'utf8')
    const response = await fetch(place)
    if (response.ok) return await response.text()
    throw new Error(`it answered ${response.status}`)
  } catch (error) {
    throw cannot(`read the handled messages from "${place}"`, messageOf(error), 'check --handled')
  }
}

/** Removes the messages that an earlier run left in a queue, unless it has one of a real order; returns whether it has. */
const removeLeftovers = async (context: Context, queue: string, patience: Patience) => {
  let isReal = false
  const visit = async ({ body }: QueueMessage) => {
    isReal ||= !body.includes(`"external_id":"${PREFIX}`)
    return isReal ? 'keep' : 'delete'
  }
  // A message that the killed store had received is invisible until its visibility timeout ends.
  await within(patience, async () => {
    await browse(context, queue, Number.POSITIVE_INFINITY, visit, () => isReal)
    return isReal || (await depthOf(context, queue)).all === 0 || undefined
  })
  return isReal
}

const feedOf = async (context: Context, source: string, patience: Patience) => {
  const { feed, ...store } = storeNamed(context, source)
  if (feed !== 'sqs')
    return httpFeed({ ...(await endpointOf(context, { ...store, feed }, 'test the store')), ...patience })
  const name = feedQueueName(source, store.queue)
  const isReal = (await depthOf(context, name)).all > 0 && (await removeLeftovers(context, name, patience))
  const { all } = await depthOf(context, name)
  if (all > 0) {
    const [found, remedy] = isReal
      ? [`${count(all, 'message')} of real orders may wait in ${name}`, 'let the store consume them first']
      : [`${count(all, 'message')} in ${name} stayed invisible for ${patience.wait} s (--wait)`, INVISIBLE]
    throw cannot(`test the store "${source}"`, found, remedy)
  }
  return sqsFeed({ sqs: context.sqs, queueUrl: await context.queueUrl(name), ...patience })
}

/**
 * Tests a store and yields the findings.
 *
 * @param command starts the store, which may then be killed
 * @throws Failure if the store must not be tested, or when the signal is aborted; the store has then been killed
 */
export const testStore = async (
  context: Context,
  source: string,
  { handled: place, only, testStore: isAllowed = false, wait }: Options,
  { signal, onFinding }: Pick<Playing, 'signal' | 'onFinding'>,
  command: readonly string[] = [],
) => {
  const { terminal, local, title } = context
  if (!local && !isAllowed) {
    const found = `a store of ${title} would receive messages about test orders`
    const remedy = 'use --local, or pass --test-store if it has no customers'
    throw cannot(`test the store "${source}"`, found, remedy)
  }
  const store = command.length === 0 ? undefined : storeProcess(command, terminal.environment)
  const patience = { wait, signal, assertUseful: store?.assertAlive }
  const feed = await feedOf(context, source, patience)
  const handled = place === undefined ? store?.output : () => textAt(place)
  await handled?.()
  const kill = async () => store?.kill()
  signal?.addEventListener('abort', kill)
  return play({
    ...{ source, exact: storeNamed(context, source).exact, ...feed, ...patience, terminal, onFinding },
    ...(store && { store }),
    ...(handled && { handled }),
    ...(only !== undefined && { only: only.split(',') }),
  }).finally(kill)
}

const conformance = async (
  context: Context,
  source: string,
  options: Options,
  { args: [, ...command] }: { args: readonly string[] },
) => {
  // Immediately, since a run takes minutes and may be interrupted.
  const onFinding = (finding: Finding) => {
    if (!context.json) printLines(context.terminal, findingText(finding), findingColor)
  }
  const findings = await interruptible(signal =>
    testStore(context, source, options, { signal, onFinding }, command),
  )
  const where = `the store "${source}", which now has test orders "${PREFIX}…"`
  const report = findingsReport(findings, where, { source, testOrders: `${PREFIX}*` })
  return { ...report, text: report.summary }
}

/** `relay conformance`: what a store would lose or process twice. */
export const conformanceCommand = ({ program, run }: Cli): void => {
  program
    .command('conformance')
    .description(
      'Send duplicates, old versions, timeouts, failures, a secret rotation and outages to a test store, and report what it would lose or process twice. ' +
        `The external_id of every test order begins with "${PREFIX}". The exit code is 1 when there is a problem.`,
    )
    .argument('<source>', 'source of the store')
    // The command after "--" starts the store; declared as an argument, it would widen the list of commands.
    .allowExcessArguments()
    .usage('[options] <source> [-- <command that starts the store, which may be killed and restarted>]')
    .option(
      '--handled <file or URL>',
      'where the store logs the delivery of each handled message (default: the output of the command)',
    )
    .addOption(
      durationOption(
        '--wait <duration>',
        'time limit for the store, longer than its visibility timeout',
        '2m',
      ),
    )
    .option('--only <checks>', 'only these checks, separated by commas, after the first')
    .option('--test-store', 'allow a store of a deployed stage, which must be one for tests')
    .action(run(conformance))
}
