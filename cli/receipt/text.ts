import { count, visible } from '../table.ts'
import type { Difference, Receipt } from './account.ts'

const share = (name: string, number: number) => `  ${String(number).padStart(8)}  ${name}`

const shares = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .filter(([, number]) => number > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, number]) => share(name, number))

const differenceText = ({ what, id, source, external_id }: Difference) =>
  visible(`  ${source} ${external_id}: ${what}${id === undefined ? '' : ` (${id})`}`)

/** More are counted, and named with --json. */
const NAMED = 20

/** The receipt as a person reads it: what came in, and what became of it. */
export const receiptText = (receipt: Receipt): string => {
  const { since, until, deliveries, line, requests, intents, orders, left, differences } = receipt
  const { entered, ...ends } = line
  return [
    `From ${since.toISOString()} to ${until.toISOString()}`,
    '',
    ...(deliveries === undefined
      ? ['There is no log, so duplicates, ignored and refused deliveries are not counted.']
      : [
          `${count(deliveries.received, 'delivery', 'deliveries')} received, of which`,
          ...shares(deliveries.outcomes),
        ]),
    '',
    `${count(entered, 'message')} went on the order line (${count(entered - requests.accepted, 'delivery', 'deliveries')}, ${count(requests.accepted, 'request')} of stores), of which`,
    ...shares(ends),
    ...(requests.accepted === 0
      ? []
      : ['', `${count(requests.accepted, 'request')} of stores, of which`, ...shares(requests.states)]),
    ...(Object.keys(intents).length === 0
      ? []
      : ['', 'What stores asked for, by the orders that changed:', ...shares(intents)]),
    '',
    `${count(orders.known, 'order')} changed; ${orders.asked === 0 ? 'the service was not asked' : `${orders.agree} of ${orders.asked} agree with the service`}.`,
    ...(left.dead + left.quarantined === 0
      ? []
      : [`Left to a person: ${count(left.dead, 'dead letter')}, ${left.quarantined} in quarantine.`]),
    '',
    ...(differences.length === 0
      ? ['Everything is accounted for.']
      : [
          `${count(differences.length, 'difference')}:`,
          ...differences.slice(0, NAMED).map(differenceText),
          ...(differences.length > NAMED ? [`  and ${differences.length - NAMED} more, see --json`] : []),
        ]),
  ].join('\n')
}
