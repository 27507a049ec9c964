import type { Way } from '../cloud/start.ts'
import type { Context, Part } from '../context.ts'
import { eventOf } from '../deliveries.ts'
import { byHand, empty, type Implementation, onSdk, ours, powertools, tutorial } from '../implementations.ts'
import { bars } from '../plots.ts'
import { atMost, spread, type Table, times } from '../report.ts'
import { startFunction } from '../runtime/function.ts'
import { runtimeClient } from '../runtime/ric.ts'
import { measured, median, ratio } from '../statistics.ts'

const ROUNDS = 21
const ROUNDS_TLS = 11

const implementations = [empty, ours, byHand, onSdk, powertools, tutorial]

type Start = { next: number; answer: number; cpu: number }

const start = async (
  { cloud, bundle }: Context,
  implementation: Implementation,
  way: Way,
): Promise<Start> => {
  const { environment } = await cloud()
  const files = await bundle(implementation)
  const event = eventOf('2 KB')
  const running = await startFunction(files, environment(way))
  try {
    const { to } = await running.invoke(event)
    const cpu = running.cpu() ?? Number.NaN
    return { next: (await running.ready) - running.started, answer: to - running.started, cpu }
  } finally {
    await running.stop()
  }
}

const measure = async (context: Context, way: Way, rounds: number) => {
  const starts = new Map<Implementation, Start[]>(implementations.map(each => [each, []]))
  // Once for nothing: files come into the page cache, the emulators get warm.
  for (const each of implementations) await start(context, each, way)
  for (let round = 0; round < rounds; round++) {
    for (const each of implementations) starts.get(each)?.push(await start(context, each, way))
  }
  return (each: Implementation, what: keyof Start) => (starts.get(each) ?? []).map(start => start[what])
}

/** From the start of the process to the first answer, with the runtime's own client. */
export const coldstart: Part = async context => {
  const { hasTls } = await context.cloud()
  const of = await measure(context, 'direct', ROUNDS)
  const overTls = hasTls ? await measure(context, 'tls', ROUNDS_TLS) : undefined
  const rows = await Promise.all(
    implementations.map(async each => {
      const { bytes, zipBytes } = await context.bundle(each)
      return [
        each.name,
        spread(measured(of(each, 'next'))),
        spread(measured(of(each, 'answer'))),
        times(ratio(of(each, 'answer'), of(empty, 'answer'))),
        spread(measured(of(each, 'cpu'))),
        times(ratio(of(each, 'cpu'), of(empty, 'cpu'))),
        `${(bytes / 1000).toFixed(0)} / ${(zipBytes / 1000).toFixed(1)}`,
      ]
    }),
  )
  const tlsTable = (of: Awaited<ReturnType<typeof measure>>): Table => ({
    head: ['over TLS', 'to first answer, ms', 'to the empty handler', 'CPU, ms', 'to the empty handler'],
    rows: implementations.map(each => [
      each.name,
      spread(measured(of(each, 'answer'))),
      times(ratio(of(each, 'answer'), of(empty, 'answer'))),
      spread(measured(of(each, 'cpu'))),
      times(ratio(of(each, 'cpu'), of(empty, 'cpu'))),
    ]),
  })
  return {
    title: 'Cold start',
    text: [
      `Each function is started ${ROUNDS} times, in turn with the others, as Lambda starts it: by ` +
        (runtimeClient() === undefined
          ? '**a minimal loop in place of the runtime client, since aws-lambda-ric is not installed here** ' +
            '(`npm run bench -- install` installs it)'
          : "AWS's own runtime interface client (aws-lambda-ric)") +
        ', with the two flags that Lambda sets. Its first event is a first delivery of 2 KB that it takes all ' +
        'the way: secret, verification, DynamoDB, SQS, against the embedded parts. CPU is that of all threads of ' +
        'the process until its first answer; it says more than time where a machine is shared.',
      hasTls
        ? 'The embedded parts speak plain HTTP. The second table has TLS before them, as AWS has: then whoever ' +
          'calls AWS loads TLS and shakes hands with each service, and the empty handler does neither.'
        : 'The embedded parts speak plain HTTP; on AWS there are TLS and its handshakes on top, for everyone who ' +
          'calls AWS. (With openssl on this machine, that would be measured too.)',
    ],
    tables: [
      {
        head: [
          '',
          'to first /next, ms',
          'to first answer, ms',
          'to the empty handler',
          'CPU, ms',
          'to the empty handler',
          'code / zip, KB',
        ],
        rows,
      },
      ...(overTls === undefined ? [] : [tlsTable(overTls)]),
    ],
    targets: [
      atMost(
        'cold start to first answer, to an empty handler',
        2,
        ratio(of(ours, 'answer'), of(empty, 'answer')),
      ),
      atMost(
        'cold start to first answer, to peer (b)',
        0.6,
        ratio(of(ours, 'answer'), of(powertools, 'answer')),
      ),
    ],
    plots: [
      {
        name: 'coldstart',
        alt: 'Milliseconds from the start of the process to the first answer',
        svg: bars(
          'From the start of the process to the first answer, ms',
          implementations.map(each => [each.name, median(of(each, 'answer'))]),
        ),
      },
    ],
  }
}
