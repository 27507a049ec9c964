import { readFile } from 'node:fs/promises'
import { feedQueueName } from '../../lib/platform/names.ts'
import type { Cli } from '../core/command.ts'
import { type Context, storeNamed } from '../core/context.ts'
import { cannot, messageOf } from '../core/errors.ts'
import { findingsReport } from '../core/findings.ts'
import { interruptible } from '../core/interruptible.ts'
import { durationOption } from '../core/options.ts'
import { count, type Report } from '../core/output.ts'
import { depthOf } from '../core/queue.ts'
import { feedSecretOf } from '../stores.ts'
import { httpFeed, type Patience, sqsFeed } from './feeds.ts'
import { type Playing, PREFIX, play } from './play.ts'
import { storeProcess } from './store.ts'

type Options = {
  handled?: string | undefined
  wait: number
  only?: string | undefined
  testStore?: boolean | undefined
}

/** What a file or a URL says now. */
const textAt = async (place: string): Promise<string> => {
  try {
    if (!/^https?:/.test(place)) return await readFile(place, 'utf8')
    const response = await fetch(place)
    if (response.ok) return await response.text()
    throw new Error(`it answered ${response.status}`)
  } catch (error) {
    throw cannot(`read what the store has handled from "${place}"`, messageOf(error), 'check --handled')
  }
}

const feedOf = async (context: Context, source: string, patience: Patience) => {
  const { feed, queue } = storeNamed(context, source)
  if (feed !== 'sqs') {
    const secret = await feedSecretOf(context, source, 'test the store')
    return httpFeed({ url: feed.http, secret, ...patience })
  }
  const name = feedQueueName(source, queue)
  const { all } = await depthOf(context, name)
  if (all > 0) {
    const found = `${count(all, 'message')} of real orders may wait in ${name}`
    throw cannot(`test the store "${source}"`, found, 'let the store consume them first')
  }
  return sqsFeed({ sqs: context.sqs, queueUrl: await context.queueUrl(name), ...patience })
}

/**
 * Tests a store, and hears what is found.
 *
 * @param command starts the store, which may then be killed
 * @throws Failure if it must not be tested, or once the signal is aborted; the store has then been killed
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
    const found = `a store of ${title} would take messages about test orders`
    throw cannot(
      `test the store "${source}"`,
      found,
      'use --local, or pass --test-store if it has no customers',
    )
  }
  const patience = { wait, signal }
  const feed = await feedOf(context, source, patience)
  const store = command.length === 0 ? undefined : storeProcess(command, terminal.environment)
  const handled = place === undefined ? store?.output : () => textAt(place)
  await handled?.()
  const kill = async () => store?.kill()
  signal?.addEventListener('abort', kill)
  return play({
    ...{ source, ...feed, ...patience, terminal, onFinding },
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
): Promise<Report> => {
  const findings = await interruptible(signal => testStore(context, source, options, { signal }, command))
  const where = `the store "${source}", which now has test orders "${PREFIX}…"`
  return findingsReport(findings, where, { source, testOrders: `${PREFIX}*` })
}

/** `relay conformance`: what a store would lose or double. */
export const conformanceCommand = ({ program, run }: Cli): void => {
  program
    .command('conformance')
    .description(
      'Play duplicates, old versions, time-outs, failures, an exchange of the secret and outages against a test store, and say what it would lose or double. ' +
        `The external_id of every test order begins with "${PREFIX}". The exit code is 1 when there is a problem.`,
    )
    .argument('<source>', 'source of the store')
    // The command after "--" starts the store; as an argument it would widen the list of all commands.
    .allowExcessArguments()
    .usage('[options] <source> [-- <command that starts the store, to be killed and started again>]')
    .option(
      '--handled <file or URL>',
      'where the store notes the delivery of each message that it has handled (default: what the command prints)',
    )
    .addOption(durationOption('--wait <duration>', 'how long the store may take', '2m'))
    .option('--only <checks>', 'only these checks, separated by commas, after the first')
    .option('--test-store', 'allow a store of a deployed stage, which must be one for tests')
    .action(run(conformance))
}
