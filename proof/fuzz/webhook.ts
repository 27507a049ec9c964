import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import type { Body } from '../../lib/body.ts'
import { sign } from '../../lib/protocol/signature.ts'
import { type Received, receive } from '../../lib/webhook/receive.ts'
import { anyText, bytesOf, mostly, text, uuid, words } from './hostile.ts'
import { workOn } from './worker.ts'

const NOW = 1_800_000_000
const SECRET = 'whsec_fuzz'

const webhook = mostly({
  event: words('order.updated', 'order.updated', 'order.updated', 'order.shipped'),
  delivery: uuid,
  data: mostly({
    source: words('shop', 'shop', 'shop', 'other'),
    external_id: anyText,
    status: fc.oneof(words('needs_review', 'invoiced', 'paid', 'refunded'), anyText),
    total: anyText,
  }),
})

const headers = fc.record(
  { 'x-service-delivery': text, 'x-service-event': fc.oneof(fc.constant('order.updated'), text) },
  { requiredKeys: [] },
)

/** The receiving path with ports that only remember what they were asked. */
const receiver = () => {
  const calls: string[] = []
  const queued: string[] = []
  const quarantined: Body[] = []
  const take = (body: Body, headers: Record<string, string>) =>
    receive(
      { headers, body },
      {
        secrets: { verify: async attempt => attempt([SECRET]) },
        isOurs: source => source === 'shop',
        deliveries: {
          has: async () => {
            calls.push('has')
            return false
          },
          record: async () => void calls.push('record'),
        },
        enqueue: async (_order, _id, text) => {
          calls.push('send')
          queued.push(text)
        },
        quarantine: async ({ body }) => {
          calls.push('quarantine')
          quarantined.push(body)
        },
        now: () => NOW,
      },
    )
  return { take, calls, queued, quarantined }
}

const CALLS: Readonly<Record<Received['outcome'], readonly string[]>> = {
  queued: ['has', 'send', 'record'],
  duplicate: ['has'],
  ignored: [],
  forged: [],
  contradictory: [],
  unreadable: ['quarantine'],
  'too large': [],
}

/** API Gateway hands over as text what is text, unless it is told otherwise. */
const handedOver = (body: Uint8Array, asText: boolean): Body =>
  asText && isUtf8(body) ? Buffer.from(body).toString() : body

/** What is authentic is queued, ignored or put in quarantine byte for byte, and the worker can read what is queued. */
export const authenticProperty = () =>
  fc.asyncProperty(
    bytesOf(webhook),
    fc.boolean(),
    fc.option(headers, { freq: 4 }),
    async (body, asText, others) => {
      const { take, calls, queued, quarantined } = receiver()
      const header = sign({ secret: SECRET, t: NOW, body })
      const { outcome } = await take(handedOver(body, asText), { ...others, 'x-service-signature': header })
      assert.notEqual(outcome, 'forged')
      assert.deepEqual(calls, CALLS[outcome])
      for (const kept of quarantined) assert.ok(Buffer.from(kept).equals(body))
      for (const message of queued) {
        assert.ok(Buffer.from(message).equals(body))
        assert.deepEqual(await workOn([message, message]), { quarantined: 0 })
      }
    },
  )

/** What is not authentic costs no call, whatever it is. */
export const forgedProperty = () =>
  fc.asyncProperty(bytesOf(webhook), text, async (body, header) => {
    const { take, calls } = receiver()
    const signed = sign({ secret: 'whsec_guess', t: NOW, body })
    for (const signature of [header, signed]) {
      assert.equal((await take(body, { 'x-service-signature': signature })).outcome, 'forged')
    }
    assert.deepEqual(calls, [])
  })
