import type { Way } from '../cloud.ts'
import { atMost, type Context, type Part } from '../context.ts'
import { eventOf } from '../deliveries.ts'
import { empty, type Implementation, leanStack, relay, stack, tutorial } from '../implementations.ts'
import { inTurn, measured, ratio } from '../statistics.ts'

const ROUNDS: Readonly<Record<'tls' | 'direct', number>> = { tls: 21, direct: 11 }

const implementations = [empty, relay, stack, leanStack, tutorial]

/** Milliseconds from the start of the process; CPU of all its threads until the first answer. */
type Start = { toNext: number; toAnswer: number; cpu: number }

const start = async (context: Context, implementation: Implementation, way: Way): Promise<Start> => {
  const event = eventOf('2 KB')
  const running = await context.start(implementation, way)
  try {
    const { to, body } = await running.invoke(event)
    if (!body.includes('"statusCode":200')) throw new Error(`Cannot measure: a delivery was answered ${body}`)
    const cpu = running.cpu() ?? Number.NaN
    return { toNext: (await running.ready) - running.started, toAnswer: to - running.started, cpu }
  } finally {
    await running.stop()
  }
}

const measure = async (context: Context, way: 'tls' | 'direct') => {
  const starts = await inTurn(implementations, { rounds: ROUNDS[way] }, each => start(context, each, way))
  const of = (each: Implementation, what: keyof Start) => starts(each).map(found => found[what])
  const results = await Promise.all(
    implementations.map(async each => {
      const { bytes, zipBytes } = await context.bundle(each)
      return {
        name: each.name,
        toNext: measured(of(each, 'toNext')),
        toAnswer: measured(of(each, 'toAnswer')),
        cpu: measured(of(each, 'cpu')),
        toAnswerToEmpty: ratio(of(each, 'toAnswer'), of(empty, 'toAnswer')),
        cpuToEmpty: ratio(of(each, 'cpu'), of(empty, 'cpu')),
        codeKb: bytes / 1000,
        zipKb: zipBytes / 1000,
      }
    }),
  )
  return { of, results }
}

/**
 * From the start of the process to the first answer, in turn with the others. The first event is a first delivery
 * of 2 KB that is taken all the way: secret, verification, DynamoDB, SQS. Over TLS, as AWS's endpoints are, and
 * over plain HTTP.
 */
export const coldstart: Part = async context => {
  const tls = await measure(context, 'tls')
  const direct = await measure(context, 'direct')
  const zipKb = (await context.bundle(relay)).zipBytes / 1000
  const compared = (other: Implementation) => ratio(tls.of(relay, 'toAnswer'), tls.of(other, 'toAnswer'))
  return {
    results: { tls: tls.results, direct: direct.results },
    targets: [
      atMost('cold start over TLS, to peer (b) as its documentation bundles it', 0.7, compared(stack)),
      atMost('cold start over TLS, to peer (b) with our bundling', 0.85, compared(leanStack)),
      { what: 'zip of the receiver', target: '≤ 130 KB', found: `${zipKb} KB`, met: zipKb <= 130 },
    ],
  }
}
