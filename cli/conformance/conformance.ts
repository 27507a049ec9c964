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
import { progress } from '../core/terminal.ts'
import { feedSecretOf } from '../stores.ts'
import { httpFeed, sqsFeed } from './feeds.ts'
import { PREFIX, play } from './play.ts'
import { storeProcess } from './store.ts'

type Options = { handled?: string | undefined; wait: number; only?: string | undefined; testStore?: boolean }

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

const feedOf = async (context: Context, source: string, wait: number) => {
  const { feed, queue } = storeNamed(context, source)
  if (feed !== 'sqs') {
    const secret = await feedSecretOf(context, source, 'test the store')
    return httpFeed({ url: feed.http, secret, wait })
  }
  const name = feedQueueName(source, queue)
  const { all } = await depthOf(context, name)
  if (all > 0) {
    const found = `${count(all, 'message')} of real orders may wait in ${name}`
    throw cannot(`test the store "${source}"`, found, 'let the store consume them first')
  }
  return sqsFeed({ sqs: context.sqs, queueUrl: await context.queueUrl(name), wait })
}

const conformance = async (
  context: Context,
  source: string,
  { handled: place, wait, only, testStore = false }: Options,
  { args: [, ...command] }: { args: readonly string[] },
): Promise<Report> => {
  const { terminal, local, title } = context
  if (!local && !testStore) {
    const found = `a store of ${title} would take messages about test orders`
    throw cannot(
      `test the store "${source}"`,
      found,
      'use --local, or pass --test-store if it has no customers',
    )
  }
  const feed = await feedOf(context, source, wait)
  const store = command.length === 0 ? undefined : storeProcess(command, terminal.environment)
  const handled = place === undefined ? store?.output : () => textAt(place)
  await handled?.()
  using shown = progress(terminal, 'Checking')
  const findings = await interruptible(signal => {
    const end = async () => {
      await store?.kill()
      process.exit(130)
    }
    // A check cannot be broken off, and would start the store again.
    signal.addEventListener('abort', end)
    return play({
      ...{ source, ...feed, wait, onChecked: shown.advance },
      ...(store && { store }),
      ...(handled && { handled }),
      ...(only !== undefined && { only: only.split(',') }),
    })
  }).finally(() => store?.kill())
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
