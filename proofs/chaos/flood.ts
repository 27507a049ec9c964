import { randomUUID } from 'node:crypto'
import { MAX_BODY_BYTES } from '../../lib/protocol/json.ts'
import { sign, TOLERANCE_SECONDS } from '../../lib/protocol/signature.ts'
import { STATUSES } from '../../lib/protocol/status.ts'
import { HEADERS, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import { claim, feedViolations, same } from '../../test/support/oracle.ts'
import { chance, pick } from './chance.ts'
import { waitFor } from './orders.ts'
import { endOf } from './violations.ts'
import type { World } from './world.ts'

/** A kind of webhook and its valid responses; without a weight, it is a change of the order. */
type Kind = {
  name: string
  answers: readonly string[]
  weight: number
  offBy?: number
  secret?: string
  source?: string
  padding?: number
}

const NEW: Kind = { name: 'that is new', weight: 0, answers: ['200 queued'] }
const TWIN: Kind = { name: 'sent twice at once', weight: 0, answers: ['200 queued', '200 duplicate'] }
const AGAIN: Kind = { name: 'sent again', weight: 18, answers: ['200 duplicate'] }
const LATE = TOLERANCE_SECONDS + 100
const FORGED = ['401 unauthorized']
const BESIDES: readonly [Kind, ...Kind[]] = [
  AGAIN,
  { name: 'about a foreign order', weight: 10, source: 'elsewhere', answers: ['200 ignored'] },
  { name: 'signed with another secret', weight: 4, secret: 'whsec_other', answers: FORGED },
  { name: 'replayed later', weight: 3, offBy: -LATE, answers: FORGED },
  { name: 'signed ahead of time', weight: 1, offBy: LATE, answers: FORGED },
  { name: 'too large', weight: 2, padding: MAX_BODY_BYTES, answers: ['413 too_large'] },
]
/** Of a hundred webhooks, forty change nothing. */
const BESIDES_SHARE = 0.4
const TWIN_SHARE = 0.06

const SOURCE = 'api'

type Data = { source: string; external_id: string; status: string }

/** An order that the relay knows only from webhooks: the content of each. */
export type FloodOrder = { id: string; changes: readonly Data[] }

/** A random order that depends only on the seed and its number. */
export const floodOrder = (seed: number, number: number): FloodOrder => {
  const id = `o${String(number).padStart(5, '0')}`
  const statuses = STATUSES.filter(status => chance(seed, id, status) < 0.6)
  return {
    id,
    changes: statuses.map(status => ({
      source: SOURCE,
      external_id: id,
      status,
      status_display: `وضعیت: ${status}`,
      total: '1000',
      invoice_number: 1,
      invoice_status: 'posted',
      receipt_number: 1,
      return_number: 1,
      error: null,
    })),
  }
}

/** Sends the webhooks of orders and counts the responses. */
export const floodWith = (seed: number) => {
  const answers: Record<string, number> = {}

  const send = async ({ webhook }: World, kind: Kind, data: Data, delivery: string = randomUUID()) => {
    const { name, offBy = 0, secret = webhook?.secret ?? '', source = SOURCE, padding = 0 } = kind
    const text = JSON.stringify({ event: ORDER_UPDATED, data: { ...data, source }, delivery })
    const body = text + ' '.repeat(padding)
    const signature = sign({ secret, t: Math.floor(Date.now() / 1000) + offBy, body })
    const headers = {
      [HEADERS.event]: ORDER_UPDATED,
      [HEADERS.delivery]: delivery,
      [HEADERS.signature]: signature,
    }
    const response = await fetch(webhook?.url ?? '', { method: 'POST', headers, body })
    const { status: said, error } = JSON.parse(await response.text())
    const answer = `${response.status} ${said ?? error.code}`
    answers[answer] = (answers[answer] ?? 0) + 1
    if (!kind.answers.includes(answer)) throw new Error(`a webhook ${name} was answered ${answer}`)
  }

  const play = async (world: World, { id, changes }: FloodOrder): Promise<void> => {
    for (const [step, data] of changes.entries()) {
      const delivery = randomUUID()
      const kinds = chance(seed, id, step, 'twin') < TWIN_SHARE ? [TWIN, TWIN] : [NEW]
      await Promise.all(kinds.map(kind => send(world, kind, data, delivery)))
      for (let more = 0; chance(seed, id, step, 'besides', more) < BESIDES_SHARE; more++) {
        const kind = pick(BESIDES, chance(seed, id, step, 'kind', more))
        await (kind === AGAIN
          ? send(world, kind, data, delivery)
          : send(world, kind, { ...data, status: 'refunded' }))
      }
      await waitFor(world, `version ${step + 1}`, () => world.inbox.of(id).length > step)
    }
  }

  /** Each change is published once, in order and unchanged, and the last one is in the table (promise P9). */
  const violationsOf = async (world: World, { id, changes }: FloodOrder): Promise<string[]> => {
    const { stored, feed } = await endOf(world, { source: SOURCE, id })
    const received = feed.map(({ version, data }) => ({ version, data }))
    const expected = changes.map((data, index) => ({ version: index + 1, data }))
    return [
      ...feedViolations(feed),
      ...claim(same(received, expected), 'the feed has other changes'),
      ...claim(same(stored?.order.result, changes.at(-1)), 'the table has another result'),
    ]
  }

  /** Each response costs no more AWS calls than allowed (promise P4). */
  const violations = ({ journal: { calls, requests } }: World, seconds: number): string[] => {
    const due = 3 * (answers['200 queued'] ?? 0) + (answers['200 duplicate'] ?? 0)
    const made = [...calls].filter(([call]) => call.startsWith('webhook to AWS'))
    const reads = made.find(([call]) => call.endsWith('GetParametersByPath'))?.[1] ?? 0
    const cost = made.reduce((sum, [, count]) => sum + count, -reads)
    return [
      ...claim(cost === due, `the webhook function made ${cost} calls to DynamoDB and SQS, not ${due}`),
      // At the start, when they are a minute old, and once a minute after a mismatch.
      ...claim(
        reads <= 1 + 2 * Math.ceil(seconds / 60),
        `the secrets were read ${reads} times in ${Math.round(seconds)} s`,
      ),
      ...claim(!requests.has('worker to service'), 'the accounting service was called'),
    ]
  }

  return { play, violationsOf, violations, summary: () => ({ answers }) }
}
