import { setTimeout as sleep } from 'node:timers/promises'
import { Option } from '@commander-js/extra-typings'
import { isServiceFailure } from '@order-relay/lib/orders/early-retry.ts'
import { visible } from '@order-relay/lib/platform/visible.ts'
import { DELIVERY_TTL_SECONDS } from '@order-relay/lib/webhook/deliveries.ts'
import { type Coded, textOf } from '../core/coded.ts'
import type { Cli } from '../core/command.ts'
import type { Context } from '../core/context.ts'
import { periodOption, positive } from '../core/options.ts'
import { count, lines } from '../core/output.ts'
import type { DeadLetters } from '../model/failing-event.ts'
import { checkOrders } from '../order-events.ts'
import { failingOrders } from '../orders/list.ts'
import { stateText } from '../orders/summary.ts'
import { type Balance, balance, type Difference, type Evidence, type Member } from './balance.ts'
import { collect, collectAgain } from './evidence.ts'
import { remediesOf } from './remedies.ts'
import { recordRepair } from './repairs.ts'

const shares = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .filter(([, number]) => number > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, number]) => `  ${String(number).padStart(8)}  ${name}`)

/** The same for requests, by their kinds, if any, and states. */
const sharesOfRequests = (counts: Readonly<Record<string, number>>) =>
  shares(
    Object.fromEntries(
      Object.entries(counts).map(([name, number]) => [name.split(' ').map(stateText).join(' '), number]),
    ),
  )

/** A number of items and what became of them. */
const counted = (title: string, counts: Readonly<Record<string, number>>) => {
  const rows = shares(counts)
  return [rows.length === 0 ? `${title}.` : `${title}:`, ...rows]
}

/**
 * The time since which events have been waiting for the service; undefined if none is waiting.
 *
 * @param readDead reads the dead letters, for example from a shared reading
 */
export const waitingSince = async (
  context: Context,
  readDead?: () => Promise<DeadLetters>,
): Promise<string | undefined> => {
  const { orders } = await failingOrders(context, { limit: 100 }, readDead)
  return orders.find(({ failing }) => failing && isServiceFailure(failing))?.failing?.since
}

const differenceText = ({ what, id, source, external_id }: Balance['differences'][number]) =>
  visible(`  ${source} ${external_id}: ${what}${id === undefined ? '' : ` (${id})`}`)

/** Maximum number of differences in the text; --json lists all. */
const LISTED = 20

const balanceText = (audited: Omit<Audited, 'lists'>, remedies: readonly Coded[]): string => {
  const { deliveries, queue, requests, stored, orders, left, undelivered, differences } = audited
  const { entered, ...outcomes } = queue
  const { accepted } = requests
  return lines(
    `From ${audited.since.toISOString()} to ${audited.until.toISOString()}`,
    audited.since.getTime() < Date.now() - DELIVERY_TTL_SECONDS * 1000 &&
      'Logs and deliveries are kept for 30 days: for anything received earlier, only the orders are compared.',
    '',
    deliveries === undefined
      ? 'No log found: duplicate, ignored and refused deliveries are not counted.'
      : counted(`${count(deliveries.received, 'delivery', 'deliveries')} received`, deliveries.outcomes),
    '',
    counted(
      `${count(entered, 'event')} added to the order queue (${count(entered - accepted, 'delivery', 'deliveries')}, ${count(accepted, 'request')} of stores)`,
      outcomes,
    ),
    accepted > 0 && ['', `${count(accepted, 'request')} of stores:`, ...sharesOfRequests(requests.states)],
    Object.keys(stored).length > 0 && [
      '',
      'All requests of the orders that changed:',
      ...sharesOfRequests(stored),
    ],
    '',
    `${count(orders.known, 'order')} changed; ${orders.asked === 0 ? 'not compared with the service' : `${orders.agree} of ${orders.asked} agree with the service`}.`,
    left.dead + left.quarantined > 0 &&
      `Waiting for a decision: ${count(left.dead, 'dead letter')}, ${left.quarantined} in quarantine.`,
    undelivered.length > 0 && ['', 'Messages that stores have not received:'],
    undelivered.map(
      ({ source, waiting, inFlight, dead, deleted }) =>
        `  ${visible(source)}: ${waiting} waiting, ${inFlight} being received or waiting for a retry, ${count(dead, 'dead letter')}, ${deleted} deleted in this period`,
    ),
    '',
    audited.unread.map(
      ({ reason, orders }) => `${count(orders, 'order')} not compared with the service: ${reason}.`,
    ),
    audited.waitingSince !== undefined &&
      `Events have been waiting for the service since ${audited.waitingSince}.`,
    differences.length === 0
      ? `Everything ${audited.unread.length > 0 ? 'else ' : ''}is accounted for.`
      : `${count(differences.length, 'difference')}:`,
    differences.slice(0, LISTED).map(differenceText),
    differences.length > LISTED && `  and ${differences.length - LISTED} more; see --json`,
    remedies.map(textOf),
  )
}

/** Recent events may still be in progress, and CloudWatch shows log lines late. */
const ATTEMPTS = 3
const INTERVAL_MS = { local: 1000, aws: 5000 }

type Period = { since: Date; rate: number; service: boolean }

export type Audited = Balance & { waitingSince: string | undefined }

/** Whether everything is accounted for and compared. */
const isBalanced = ({ differences, unread }: Pick<Balance, 'differences' | 'unread'>) =>
  differences.length === 0 && unread.length === 0

/** Accounts for everything since a time; reads differences again, since events may still be in progress. */
export const auditSince = async (context: Context, { since, rate, service }: Period): Promise<Audited> => {
  const asked = service ? rate : undefined
  let evidence: Evidence = await collect(context, since, new Date(), asked)
  for (let attempt = 1; ; attempt++) {
    const audited = balance(evidence)
    const { differences, unread, lists } = audited
    if (isBalanced(audited) || attempt === ATTEMPTS)
      return { ...audited, waitingSince: unread.length > 0 ? await waitingSince(context) : undefined }
    await sleep(INTERVAL_MS[context.local ? 'local' : 'aws'])
    evidence = await collectAgain(context, evidence, [...differences, ...(lists.orders.unread ?? [])], asked)
  }
}

/** Maximum number of listed members of each count. */
const MEMBERS = 200

const memberOf = ({ source, external_id, id }: Member) => ({ source, external_id, id })

/** The members of each count. */
export const shortened = (lists: Record<string, Partial<Record<string, readonly Member[]>>>) =>
  Object.fromEntries(
    Object.entries(lists).map(([topic, groups]) => {
      const counted = Object.entries(groups).map(([name, members = []]) => ({
        name,
        count: members.length,
        members: members.slice(0, MEMBERS).map(memberOf),
      }))
      return [topic, counted]
    }),
  )

const audit = async (context: Context, options: Period & { repair?: true | undefined }) => {
  const { lists, ...audited } = await auditSince(context, options)
  const balanced = isBalanced(audited)
  const isOutdated = ({ remedy }: Difference) => remedy === 'outdated'
  const outdated = options.repair ? audited.differences.filter(isOutdated) : []
  await checkOrders(context, outdated)
  const repaired = outdated.length
  if (options.repair && audited.unread.length === 0) await recordRepair(context, audited, repaired)
  const left = audited.differences.filter(each => !outdated.includes(each))
  const next = `The worker reads ${count(repaired, 'order')} from the service; then run the audit again.`
  return {
    data: { balanced, ...audited, lists: shortened(lists), repaired },
    ok: balanced,
    text: lines(balanceText(audited, remediesOf(context, left, audited.since)), repaired > 0 && next),
  }
}

const HELP = `
Every delivery must have one outcome in the functions' log: queued or duplicate; or ignored, refused or quarantined,
with a reason. Every queued delivery and accepted request must have one outcome in the log, the tables or the queues:
applied, unchanged, dead, quarantined or waiting. Every order that changed must equal the order read from the service.
The audit lists each difference, and then exits with 1.
With --json, it lists the items behind each number, up to ${MEMBERS} per number.`

export const RATE = 200

const REPAIR = new Option('--repair', 'have the worker re-read orders that differ from the service')
REPAIR.conflicts('service')

/** `relay audit`: the balance of everything that came in. */
export const auditCommand = ({ program, run }: Cli): void => {
  program
    .command('audit')
    .description('Account for everything received, and compare the orders with the accounting service.')
    .addOption(periodOption('24h'))
    .option(
      '--rate <number>',
      'maximum number of orders to read from the service per second; reduced while it answers 429',
      positive,
      RATE,
    )
    .option('--no-service', 'do not compare with the service')
    .addOption(REPAIR)
    .addHelpText('after', HELP)
    .action(run(audit))
}
