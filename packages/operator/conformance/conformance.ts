import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FeedError } from '@order-relay/lib/feeds/deliver.ts'
import { registersItself } from '@order-relay/lib/platform/http-stores.ts'
import { interruptible, type Patience } from '../core/async.ts'
import type { Cli } from '../core/command.ts'
import { type Context, storeNamed } from '../core/context.ts'
import { cannot, messageOf } from '../core/errors.ts'
import type { Finding } from '../core/findings.ts'
import { durationOption } from '../core/options.ts'
import { findingColor, findingsReport, findingText } from '../core/output.ts'
import { printLines, progress, type Terminal } from '../core/terminal.ts'
import { endpointRemedy, type TestMessage } from '../model/remedies.ts'
import { endpointOf, registeredEndpoint } from '../stores/endpoints.ts'
import { httpFeed } from './http-feed.ts'
import { FIRST, type Playing, PREFIX, play } from './play.ts'
import { feedInQueue } from './queue.ts'
import { storeProcess } from './store-process.ts'

type Options = {
  handled?: string | undefined
  wait: number
  only?: string | undefined
  testStore?: boolean | undefined
}

const namesIn = (only: string) => only.split(',').map(name => name.trim())

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

const feedOf = async (
  context: Context,
  source: string,
  options: Patience & { run: string; isStarted: boolean },
) => {
  const { feed, ...store } = storeNamed(context, source)
  if (feed === 'sqs') return feedInQueue(context, store, options)
  const httpStore = { ...store, feed }
  const remedyOf = (error: FeedError, sent: TestMessage) => endpointRemedy(context, httpStore, error, sent)
  const registers = registersItself(httpStore)
  // Read for every message, since the store may register its URL again at any time and then has a new secret.
  const registered = () => registeredEndpoint(context, source)
  if (registers && options.isStarted) return httpFeed({ target: registered, registers, remedyOf, ...options })
  const { url, secrets } = await endpointOf(context, httpStore, 'test the store')
  if (registers) return httpFeed({ target: registered, remedyOf, ...options })
  // The newest secret, which the store must have. During a rotation, messages are also signed with the old one.
  const target = { url, secret: secrets[0] ?? '' }
  return httpFeed({ target: async () => target, remedyOf, ...options })
}

/** Shorter waits are not shown, in seconds. */
const SHOWN_WAIT = 2

/** Shows how long the check has been waiting for the store. */
const waiting = (terminal: Terminal, wait: number) => {
  let shown: ReturnType<typeof progress> | undefined
  let reached = 0
  return (seconds: number) => {
    if (seconds < SHOWN_WAIT) return
    shown ??= progress(terminal, 'Waiting for the store (--wait)', wait, ' s')
    shown.advance(seconds - reached)
    reached = seconds
  }
}

/**
 * Tests a store and yields the findings.
 *
 * @param command the command that starts the store; with it, checks may kill the store
 * @throws Failure if the store must not be tested, or when the signal is aborted. In either case, the store has been killed
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
  const patience = {
    wait,
    signal,
    assertUseful: store?.assertAlive,
    onWait: waiting(terminal, wait),
  }
  const run = `${PREFIX}${randomUUID().slice(0, 8)}`
  const { clean, ...feed } = {
    clean: undefined,
    ...(await feedOf(context, source, { ...patience, run, isStarted: store !== undefined })),
  }
  const handled = place === undefined ? store?.output : () => textAt(place)
  await handled?.()
  const kill = async () => store?.kill()
  signal?.addEventListener('abort', kill)
  const end = async () => {
    await kill()
    const left = await clean?.()
    if (left !== undefined && signal?.aborted)
      throw cannot('finish', `interrupted; ${left}`, 'the next run of this command removes them')
  }
  return play({
    source,
    run,
    flags: context.flags,
    exact: storeNamed(context, source).exact,
    ...feed,
    ...patience,
    terminal,
    onFinding,
    ...(store && { store }),
    ...(handled && { handled }),
    ...(only !== undefined && { only: namesIn(only) }),
  }).finally(end)
}

/** The required checks without a verdict: `delivery`, and those named in `only`. */
export const notJudged = (findings: readonly Finding[], only: string | undefined): string[] => {
  const judged = new Set(findings.filter(({ level }) => level !== 'note').map(({ check }) => check))
  const required = new Set([FIRST, ...(only === undefined ? [] : namesIn(only))])
  return [...required].filter(name => !judged.has(name))
}

/** The action of `relay conformance`. */
export const conformance = async (
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
  const about = { source, testOrders: `${PREFIX}*` }
  const report = findingsReport(findings, where, about, notJudged(findings, options.only))
  return { ...report, text: report.summary }
}

/** `relay conformance`: what a store would lose or process twice. */
export const conformanceCommand = ({ program, run }: Cli): void => {
  program
    .command('conformance')
    .description(
      'Send duplicates, old versions, timeouts, failures, a secret rotation and outages to a test store, and report what it would lose or process twice. ' +
        `The external_id of every test order begins with "${PREFIX}". The exit code is 1 if there is a problem, or if a required check (delivery, or one named in --only) cannot be judged.`,
    )
    .argument('<source>', 'source of the store')
    // The command after "--" starts the store. It is not declared as an argument, because that would widen the command list
    // in the help.
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
    .option('--only <checks>', 'run only these checks, separated by commas, and delivery')
    .option('--test-store', 'allow a store of a deployed stage, which must be one for tests')
    .action(run(conformance))
}
