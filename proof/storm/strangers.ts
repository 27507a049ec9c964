import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sign } from '../../lib/protocol/signature.ts'
import { HEADERS, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import type { Journal } from './journal.ts'

type Kind = { offBySeconds?: number; secret?: string; source?: string; answer: 200 | 401 }

/** Who sends webhooks that the relay must not take, and how it has to answer them; the tolerance is 300 s. */
const KINDS = {
  'played back later': { offBySeconds: -400, answer: 401 },
  'signed ahead of time': { offBySeconds: 400, answer: 401 },
  'signed with another secret': { secret: 'whsec_other', answer: 401 },
  'about an order of another source': { source: 'elsewhere', answer: 200 },
} as const satisfies Record<string, Kind>
export type Stranger = keyof typeof KINDS
export const STRANGERS: readonly Stranger[] = [
  'played back later',
  'signed ahead of time',
  'signed with another secret',
  'about an order of another source',
]

const PATIENCE_MS = 3000
const AGAIN_MS = 40
const TRIES = 30

export type Intrude = (who: Stranger, order: { source: string; external_id: string }) => Promise<void>

/**
 * Sends a webhook that tells of a refund that never was, until the relay itself answers.
 *
 * @param secret the one that the service signs with
 * @throws when it is not answered as it should be
 */
export const intruder =
  (url: string, secret: string, { forged }: Journal): Intrude =>
  async (who, order) => {
    const kind: Kind = KINDS[who]
    const delivery = randomUUID()
    forged.add(delivery)
    const data = {
      ...{ source: kind.source ?? order.source, external_id: order.external_id, error: null },
      ...{ status: 'refunded', status_display: 'Refunded', total: '1' },
      ...{ invoice_number: 1, invoice_status: 'posted', receipt_number: 1, return_number: 1 },
    }
    const body = Buffer.from(JSON.stringify({ event: ORDER_UPDATED, data, delivery }))
    const post = () => {
      const t = Math.floor(Date.now() / 1000) + (kind.offBySeconds ?? 0)
      return fetch(`${url}/webhook`, {
        method: 'POST',
        headers: {
          [HEADERS.event]: ORDER_UPDATED,
          [HEADERS.delivery]: delivery,
          [HEADERS.signature]: sign({ secret: kind.secret ?? secret, t, body }),
        },
        body,
        signal: AbortSignal.timeout(PATIENCE_MS),
      }).then(
        async response => {
          await response.body?.cancel()
          return response.status
        },
        () => undefined,
      )
    }
    let status = await post()
    for (let tries = 1; tries < TRIES && status !== 200 && status !== 401; tries++) {
      await sleep(AGAIN_MS)
      status = await post()
    }
    if (status !== kind.answer) throw new Error(`a webhook ${who} was answered ${status}, not ${kind.answer}`)
  }
