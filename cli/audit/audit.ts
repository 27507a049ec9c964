import { setTimeout as sleep } from 'node:timers/promises'
import { Option } from '@commander-js/extra-typings'
import { visible } from '../../lib/platform/visible.ts'
import { DELIVERY_TTL_SECONDS } from '../../lib/webhook/deliveries.ts'
import type { Cli } from '../core/command.ts'
import type { Context } from '../core/context.ts'
import { periodOption, positive } from '../core/options.ts'
import { count, lines, type Report } from '../core/output.ts'
import { checkOrders } from '../orders/events.ts'
import { type Balance, balance, type Difference, type Member } from './balance.ts'
import { collect, collectAgain } from './collect.ts'

const shares = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .filter(([, number]) => number > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, number]) => `  ${String(number).padStart(8)}  ${name}`)

const differenceText = ({ what, id, source, external_id }: Difference) =>
  visible(`  ${source} ${external_id}: ${what}${id === undefined ? '' : ` (${id})`}`)

/** The number of differences the text lists; --json lists all. */
const LISTED = 20

const balanceText = (audited: Omit<Balance, 'lists'>): string => {
  const { deliveries, queue, requests, intents, orders, left, differences } = audited
  const { entered, ...outcomes } = queue
  const { accepted } = requests
  return lines(
    `From ${audited.since.toISOString()} to ${audited.until.toISOString()}`,
    audited.since.getTime() < Date.now() - DELIVERY_TTL_SECONDS * 1000 &&
      'Logs and deliveries are kept for 30 days: of what came in before, only the orders are compared.',
    '',
    deliveries === undefined
      ? 'No log found: duplicate, ignored and refused deliveries are not counted.'
      : [`${count(deliveries.received, 'delivery', 'deliveries')} received:`, ...shares(deliveries.outcomes)],
    '',
    `${count(entered, 'event')} added to the order queue (${count(entered - accepted, 'delivery', 'deliveries')}, ${count(accepted, 'request')} of stores):`,
    shares(outcomes),
    accepted > 0 && ['', `${count(accepted, 'request')} of stores:`, ...shares(requests.states)],
    Object.keys(intents).length > 0 && ['', 'All requests of the orders that changed:', ...shares(intents)],
    '',
    `${count(orders.known, 'order')} changed; ${orders.asked === 0 ? 'not compared with the service' : `${orders.agree} of ${orders.asked} agree with the service`}.`,
    left.dead + left.quarantined > 0 &&
      `Waiting for a decision: ${count(left.dead, 'dead letter')}, ${left.quarantined} in quarantine.`,
    '',
    differences.length === 0 ? 'Everything is accounted for.' : `${count(differences.length, 'difference')}:`,
    differences.slice(0, LISTED).map(differenceText),
    differences.length > LISTED && `  and ${differences.length - LISTED} more; see --json`,
  )
}

/** Recent events may still be in progress, and CloudWatch shows log lines late. */
const ATTEMPTS = 3
const INTERVAL_MS = { local: 1000, aws: 5000 }

type Period = { since: Date; rate: number; service: boolean }

/** Accounts for everything since a time; what differs is read again, since it may still be in progress. */
export const auditSince = async (context: Context, { since, rate, service }: Period): Promise<Balance> => {
  const asked = service ? rate : undefined
  let evidence = await collect(context, since, new Date(), asked)
  for (let attempt = 1; ; attempt++) {
    const audited = balance(evidence)
    const { differences } = audited
    if (differences.length === 0 || attempt === ATTEMPTS) return audited
    await sleep(INTERVAL_MS[context.local ? 'local' : 'aws'])
    evidence = await collectAgain(context, evidence, differences, asked)
  }
}

/** Of each number, so many of what it counts are listed. */
const MEMBERS = 200

type Lists = Record<string, Partial<Record<string, readonly Member[]>>>

/** What each number counts. */
export const shortened = (lists: Lists) =>
  Object.fromEntries(
    Object.entries(lists).map(([topic, groups]) => [
      topic,
      Object.entries(groups).map(([name, members = []]) => ({
        name,
        count: members.length,
        members: members
          .slice(0, MEMBERS)
          .map(({ source, external_id, id }) => ({ source, external_id, id })),
      })),
    ]),
  )

/** The orders that would agree with the service if the worker read them there. */
const outdatedOf = ({ differences }: Pick<Balance, 'differences'>): Difference[] =>
  differences.filter(({ outdated }) => outdated)

const audit = async (context: Context, options: Period & { repair?: true | undefined }): Promise<Report> => {
  const { lists, ...audited } = await auditSince(context, options)
  const balanced = audited.differences.length === 0
  const outdated = options.repair ? outdatedOf(audited) : []
  await checkOrders(context, outdated)
  const repaired = outdated.length
  const next = `The worker reads ${count(repaired, 'order')} from the service; then run the audit again.`
  return {
    data: { balanced, ...audited, lists: shortened(lists), repaired },
    ok: balanced,
    text: lines(balanceText(audited), repaired > 0 && next),
  }
}

const HELP = `
Every delivery must have one outcome in the functions' log: queued, duplicate, ignored, refused (forged,
contradictory, too large) or quarantined. Every queued delivery and accepted request must have one outcome in the
log, the tables or the queues: applied, unchanged, dead, quarantined or waiting. Every order that changed must
equal the service's, from which it is read. The audit names each difference; the exit code is then 1.
With --json, it lists what each number counts, up to ${MEMBERS} of each.`

export const RATE = 20

const REPAIR = new Option(
  '--repair',
  'have the worker read the orders from the service that differ from it',
).conflicts('service')

/** `relay audit`: the balance of everything that came in. */
export const auditCommand = ({ program, run }: Cli): void => {
  program
    .command('audit')
    .description('Account for everything received, and compare the orders with the accounting service.')
    .addOption(periodOption('24h'))
    .option('--rate <number>', 'orders to read from the service per second', positive, RATE)
    .option('--no-service', 'do not compare with the service')
    .addOption(REPAIR)
    .addHelpText('after', HELP)
    .action(run(audit))
}
