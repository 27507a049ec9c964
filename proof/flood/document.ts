import { availableParallelism } from 'node:os'
import { ANSWERS, callsFor } from './answers.ts'
import { changesOf, KINDS, type Kind, livesOf, mixOf } from './plan.ts'
import type { Flood, FloodOptions } from './run.ts'
import { quantile } from './statistics.ts'

const WORDS: Record<Kind, string> = {
  first: 'a change of an order',
  duplicate: 'sent before and answered',
  twin: 'a change sent twice at the same moment',
  foreign: "another store's order",
  'bad-signature': 'signed with another secret',
  stale: 'signed well, too old or too new',
  malformed: 'no readable signature',
  oversized: 'signed well, more than 256 KiB',
}

const count = (value: number) => value.toLocaleString('en')
const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)}`

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')

const answersTable = ({ plan }: FloodOptions, { answers, calls }: Flood) =>
  table(
    ['kind', 'what', 'sent', 'answered', 'calls to DynamoDB and SQS'],
    KINDS.map(kind => [
      kind,
      WORDS[kind],
      count(mixOf(plan)[kind]),
      ANSWERS[kind].map(answer => `${answer}: ${count(answers[`${kind}: ${answer}`] ?? 0)}`).join(', '),
      count(callsFor(calls, kind)),
    ]),
  )

const memoryTable = ({ memory }: Flood) =>
  table(
    ['process', 'resident set, by quarters of the run', 'peak', 'in use, by quarters', '4th against 2nd'],
    memory.map(({ name, resident, peak, live, growth }) => [
      name,
      resident.map(megabytes).join(', '),
      megabytes(peak),
      live.some(Number.isNaN) ? '' : live.map(bytes => (bytes / 2 ** 20).toFixed(1)).join(', '),
      growth === undefined ? '' : `${growth < 0 ? '−' : '+'}${Math.abs(growth * 100).toFixed(1)} %`,
    ]),
  )

const called = (calls: Flood['calls'], caller: string) =>
  Object.entries(calls)
    .filter(([name]) => name.startsWith(`${caller} `))
    .reduce((sum, [, times]) => sum + times, 0)

/**
 * What a flood was and what became of it, as docs/flood.md.
 *
 * @param loadBefore the machine's load average before the flood
 */
export const document = (options: FloodOptions, flooded: Flood, loadBefore: number): string => {
  const { plan, receivers, workers, lanes, backlog } = options
  const { problems, seconds, told, latencies, calls, unavailable, brokenOff } = flooded
  const latency = (part: number) => `${Math.round(quantile(latencies, part))} ms`
  const secrets = Object.entries(calls)
    .filter(([name]) => name.startsWith('receiver GetParametersByPath'))
    .reduce((sum, [, times]) => sum + times, 0)
  const verdict =
    problems.length === 0
      ? 'Every one of these held:'
      : `**Something was wrong** (${problems.length}), see the end. What had to hold:`
  return `# Flood

Written by \`npm run proof:flood\`. The figures are those of one run, on one machine, with emulators; run it to
have your own. What had to hold is checked in every run, and a small one is part of \`npm test\`.

${count(plan.deliveries)} deliveries (seed ${plan.seed}) about ${count(livesOf(plan).length)} orders of ${plan.sources.length} stores,
${count(changesOf(plan))} of them changes of these orders and the rest what a relay has to bear: duplicates, other stores' orders, forgeries. They were signed and posted by one process over
${lanes} connections to ${receivers} processes of the webhook function, worked through by ${workers} of the worker
(five pollers each), and read from the feeds while they came. The functions were the bundles of a local build,
unminified, handed API Gateway's events, one at a time in a receiver as on Lambda. DynamoDB and SQS were dynalite
and fauxqs, in one process. Each order lives forward from wherever it begins (in review, invoiced, paid, refunded),
one change after the other, so the accounting service need not be asked, and nothing asked it.

All of it ran on one machine with ${availableParallelism()} cores, with Node ${process.version}; the load average was
${loadBefore.toFixed(1)} before the flood, which is other work that shared the cores with it.

${verdict}

- each change was on the feed of its store exactly once, in order, with its version, word for word: ${count(told)} of ${count(changesOf(plan))}
- nothing else was on a feed, in the dead letters or in quarantine, and the order line was empty
- the orders table had each order once, with the version and the words of its last message; the record of deliveries had each delivery
- each kind was answered as below
- a first delivery cost three calls, a duplicate one, and everything else none
- what receivers and workers keep in memory did not grow by a fifth from the second quarter of the run to the last
  (in a run of less than a minute that is not judged), and they never took the 512 MB that they have on Lambda

${answersTable(options, flooded)}

Calls were counted where they arrived, by the trace that API Gateway hands a function and the function hands on. Of
twins either one finds the other's record, which costs one call, or both are sent on and the order line drops the
second. Beside these calls the receivers read their secrets ${secrets} times: at their start, every five minutes, and
at most once a minute each after a signature that did not match.

## Speed

${count(plan.deliveries)} deliveries in ${Math.round(seconds)} s: ${Math.round(plan.deliveries / seconds)} a second,
${Math.round(told / seconds)} of them told to a store.

${table(
  ['from the first sending to the reading of the feed', ''],
  [
    ['median', latency(0.5)],
    ['p90', latency(0.9)],
    ['p99', latency(0.99)],
    ['longest', latency(1)],
  ],
)}

The sender rests while more than ${backlog} messages wait on the order line: this is the latency of a relay that is
always busy, not of one that has been left behind. What holds it up is the machine: the
emulators, which answered ${count(called(calls, 'receiver') + called(calls, 'worker') + called(calls, 'event-source'))} calls of receivers, workers and event source, share the
cores with everything else. The sender had to come again ${unavailable} times
(503 or a broken connection); ${brokenOff} calls to the emulators had not been answered in full.

## Memory

Medians of each quarter of the run, in MiB. The resident set goes up and down with garbage collection and with the
oversized bodies on their way; what is in use is what is left when garbage has been collected, which the functions'
processes do every two seconds to know it.

${memoryTable(flooded)}

The emulators keep everything in memory or in their caches (dynalite's database, fauxqs' record of the last
deduplication ids), so \`aws\` may grow with the number of deliveries. \`store\` is the process that reads the feeds
and checks; it keeps a byte for each order and a number for each latency.
${problems.length === 0 ? '' : `\n## What was wrong\n\n${problems.map(problem => `- ${problem}`).join('\n')}\n`}`
}
