import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { STATUSES } from '../../lib/protocol/status.ts'
import { feedViolations } from '../oracle.ts'
import { chance, pick } from './chance.ts'
import { waitFor } from './orders.ts'
import { endOf } from './violations.ts'
import { type Data, type Kind, postWebhook, resultOf } from './webhooks.ts'
import type { World } from './world.ts'

/** Of a hundred webhooks, forty are no news. */
const BESIDES_SHARE = 0.4
const TWIN_SHARE = 0.06
const BESIDES: readonly [Besides, ...Besides[]] = [
  { weight: 18, kind: 'sent again' },
  { weight: 10, kind: 'about an order of another source' },
  { weight: 4, kind: 'signed with another secret' },
  { weight: 3, kind: 'replayed later' },
  { weight: 1, kind: 'signed ahead of time' },
  { weight: 2, kind: 'too large' },
]
type Besides = { weight: number; kind: Kind }

const SOURCE = 'api'

/** An order of which the relay learns by webhooks alone: what each says. */
export type FloodOrder = { id: string; changes: readonly Data[] }

/** A random order; it depends on the seed and its number alone. */
export const floodOrder = (seed: number, number: number): FloodOrder => {
  const id = `o${String(number).padStart(5, '0')}`
  const statuses = STATUSES.filter(status => chance(seed, id, status) < 0.6)
  return { id, changes: statuses.map(status => resultOf(SOURCE, id, status)) }
}

/** Sends the webhooks of orders, and counts how they are answered. */
export const floodWith = (seed: number) => {
  const answers = new Map<string, number>()
  const latencies: number[] = []

  const play = async (world: World, { id, changes }: FloodOrder): Promise<void> => {
    const { forger, inbox } = world
    if (forger === undefined) throw new Error('Cannot send webhooks: the secret is not known')
    const send = async (kind: Kind, webhook: { delivery: string; data: Data }) => {
      const answer = await postWebhook(forger, kind, webhook)
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
    for (const [step, data] of changes.entries()) {
      const webhook = { delivery: randomUUID(), data }
      const began = performance.now()
      const isTwin = chance(seed, id, step, 'twin') < TWIN_SHARE
      await (isTwin
        ? Promise.all([send('sent twice at once', webhook), send('sent twice at once', webhook)])
        : send('new', webhook))
      for (let more = 0; chance(seed, id, step, 'besides', more) < BESIDES_SHARE; more++) {
        const { kind } = pick(BESIDES, chance(seed, id, step, 'kind', more))
        await send(
          kind,
          kind === 'sent again' ? webhook : { delivery: randomUUID(), data: { ...data, status: 'refunded' } },
        )
      }
      await waitFor(world, `version ${step + 1}`, () => inbox.of(id).length > step)
      latencies.push(performance.now() - began)
    }
  }

  /** Every change is on the feed once, in order and word for word, and the last one in the table (promise P9). */
  const violationsOf = async (world: World, { id, changes }: FloodOrder): Promise<string[]> => {
    const { stored, feed } = await endOf(world, { source: SOURCE, id })
    const received = feed.map(({ version, data }) => ({ version, data }))
    const expected = changes.map((data, index) => ({ version: index + 1, data }))
    return [
      ...feedViolations(feed),
      ...(isDeepStrictEqual(received, expected) ? [] : ['the feed has other changes']),
      ...(isDeepStrictEqual(stored?.order.result, changes.at(-1)) ? [] : ['the table has another result']),
    ]
  }

  /** What was answered costs no more calls to AWS than it may (promise P4). */
  const violations = ({ journal: { calls, requests } }: World, seconds: number): string[] => {
    const due = 3 * (answers.get('200 queued') ?? 0) + (answers.get('200 duplicate') ?? 0)
    const made = [...calls].filter(([call]) => call.startsWith('webhook to AWS'))
    const reads = made.find(([call]) => call.endsWith('GetParametersByPath'))?.[1] ?? 0
    const cost = made.reduce((sum, [, count]) => sum + count, -reads)
    return [
      ...(cost === due ? [] : [`the receiver made ${cost} calls to DynamoDB and SQS, not ${due}`]),
      // At the start, when they are a minute old, and once a minute after a mismatch.
      ...(reads <= 1 + 2 * Math.ceil(seconds / 60)
        ? []
        : [`the secrets were read ${reads} times in ${Math.round(seconds)} s`]),
      ...(requests.has('worker to service') ? ['the accounting service was called'] : []),
    ]
  }

  const quantile = (part: number) => latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * part)]
  const summary = () => ({
    answers: Object.fromEntries(answers),
    latencyMs: { p50: quantile(0.5), p99: quantile(0.99) },
  })
  return { play, violationsOf, violations, summary }
}
