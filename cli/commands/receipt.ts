import { setTimeout as sleep } from 'node:timers/promises'
import { Option } from '@commander-js/extra-typings'
import type { Place } from '../place/place.ts'
import { account, type Receipt } from '../receipt/account.ts'
import { collect } from '../receipt/collect.ts'
import { receiptText } from '../receipt/text.ts'
import { act, type Relay } from '../relay-command.ts'
import type { Report } from '../report.ts'
import { positive, since } from '../since.ts'

/** What has just come in may still be on its way; so may its log lines, which CloudWatch shows late. */
const TRIES = 3
const betweenMs = ({ local }: Place) => (local ? 1000 : 5000)

const RATE = 20
const DAY = '24h'

type Options = { since: Date; rate: number; service: boolean }

/** Made again while something seems to be missing: only what stays missing is. */
const settled = async (place: Place, make: () => Promise<Receipt>): Promise<Receipt> => {
  for (let attempt = 1; ; attempt++) {
    const receipt = await make()
    if (receipt.differences.length === 0 || attempt === TRIES) return receipt
    await sleep(betweenMs(place))
  }
}

const receipt = async (place: Place, { since: from, rate, service }: Options): Promise<Report> => {
  const until = new Date()
  const made = await settled(place, async () =>
    account(await collect(place, from, until, service ? rate : undefined)),
  )
  const balanced = made.differences.length === 0
  return { data: { balanced, ...made }, ok: balanced, text: receiptText(made) }
}

const HELP = `
Every delivery ended in exactly one of queued, duplicate, ignored, refused (forged, contradictory, too large) or
quarantined (unreadable): by the functions' log. Every queued delivery and accepted request ended in one of applied,
unchanged, dead, quarantined or waiting: by the log, the tables and the queues. And the orders that changed are
what the accounting service says they are: each is read there. What does not add up is named, and the exit code
is 1.`

/** `relay receipt`: everything that came in, and what became of it. */
export const receiptCommand = (relay: Relay): void => {
  relay
    .command('receipt')
    .description('Account for everything that came in, and compare the orders with the accounting service.')
    .addOption(
      new Option('--since <when>', 'from then on: 2h, 7d, or a date')
        .argParser(since)
        .default(since(DAY), DAY),
    )
    .option('--rate <number>', 'orders read from the service per second', positive, RATE)
    .option('--no-service', 'do not ask the service')
    .addHelpText('after', HELP)
    .action((options, command) => act(command, place => receipt(place, options)))
}
