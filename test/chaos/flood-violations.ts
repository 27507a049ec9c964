import { isDeepStrictEqual } from 'node:util'
import { paginateScan } from '@aws-sdk/client-dynamodb'
import { feedQueueName, QUEUES, TABLES } from '../../lib/platform/names.ts'
import type { ReceivedMessage } from '../oracle.ts'
import type { Backends } from './backends.ts'
import { KINDS } from './flood-webhooks.ts'
import { NOT_CONSUMED } from './violations.ts'

/** A change of an order, as its webhook says it. */
export type Change = { delivery: string; data: object }

/** Every change is on the feed once, in order and word for word, and the last one in the table (promise P9). */
export const changeViolations = async (
  backends: Backends,
  source: string,
  expected: ReadonlyMap<string, readonly Change[]>,
  feeds: ReadonlyMap<string, readonly ReceivedMessage[]>,
): Promise<string[]> => {
  const violations: string[] = []
  let due = 0
  for (const [external_id, changes] of expected) {
    due += changes.length
    const feed = (feeds.get(external_id) ?? []).map(({ delivery, version, data }) => ({
      delivery,
      version,
      data,
    }))
    const wanted = changes.map((change, index) => ({ ...change, version: index + 1 }))
    if (!isDeepStrictEqual(feed, wanted))
      violations.push(`${external_id}: the feed has ${feed.length} of ${changes.length} changes, or others`)
    const stored = await backends.stored({ source, external_id })
    const { version, result, doubt, intents } = stored?.order ?? {}
    const last = [changes.length, changes.at(-1)?.data, false, {}]
    if (!isDeepStrictEqual([version, result, doubt, intents], last))
      violations.push(
        `${external_id}: the table has version ${version}, not ${changes.length}, or another result`,
      )
  }
  for (const external_id of feeds.keys())
    if (!expected.has(external_id)) violations.push(`${external_id}: the feed has an order that was not sent`)

  let recorded = 0
  const scan = { TableName: TABLES.deliveries, Select: 'COUNT' } as const
  for await (const { Count = 0 } of paginateScan({ client: backends.dynamodb }, scan)) recorded += Count
  if (recorded !== due) violations.push(`${recorded} deliveries are recorded, not ${due}`)
  for (const name of [...NOT_CONSUMED, QUEUES.orders, feedQueueName(source)])
    if ((await backends.depth(name)) > 0) violations.push(`something is in ${name}`)
  return violations
}

type Counts = Readonly<Record<string, number>>

const CALLS_OF: Counts = { '200 queued': 3, '200 duplicate': 1 }
const READ_SECRETS = 'webhook to AWS: GetParametersByPath for none'

/** Every kind has its only answers, and costs no more calls to AWS than it may (promise P4). */
export const costViolations = ({
  answers,
  calls,
  unavailable,
  seconds,
}: {
  answers: Counts
  calls: Counts
  /** How often the receiver did not answer; calls may have been made all the same. */
  unavailable: number
  seconds: number
}): string[] => {
  const allowed = new Set(KINDS.flatMap(({ kind, answers: all }) => all.map(each => `${kind}: ${each}`)))
  // A duplicate has the delivery of a change, so its call is made for one.
  const isAllowed = (call: string) =>
    call === READ_SECRETS || /^webhook to AWS: \w+ for (first|twin)$/.test(call)
  const cost = Object.entries(calls).reduce(
    (sum, [call, count]) => (call === READ_SECRETS ? sum : sum + count),
    0,
  )
  const due = Object.entries(answers).reduce(
    (sum, [name, count]) => sum + count * (CALLS_OF[name.replace(/^.*: /, '')] ?? 0),
    0,
  )
  const reads = calls[READ_SECRETS] ?? 0
  return [
    ...Object.entries(answers).flatMap(([name, count]) =>
      allowed.has(name) ? [] : [`${count} times ${name}`],
    ),
    ...Object.entries(calls).flatMap(([call, count]) => (isAllowed(call) ? [] : [`${count} times ${call}`])),
    ...(cost < due || cost > due + 3 * unavailable
      ? [`the receiver made ${cost} calls to DynamoDB and SQS, not ${due}`]
      : []),
    // At the start, when they are a minute old, and once a minute after a mismatch.
    ...(reads > 1 + 2 * Math.ceil(seconds / 60) ? [`the secrets were read ${reads} times`] : []),
  ]
}

export const quantile = (values: readonly number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]

/** Below a minute nothing can be said of memory: code is still being compiled. */
const SAMPLES_MIN = 30

/** By how much the memory in use grew from the second to the last quarter of the run. */
export const heapGrowth = (heap: readonly number[]): number | undefined => {
  const quarter = (part: number) =>
    quantile(heap.slice((heap.length * part) / 4, (heap.length * (part + 1)) / 4), 0.5) ?? Number.NaN
  return heap.length < SAMPLES_MIN ? undefined : quarter(3) / quarter(1) - 1
}
