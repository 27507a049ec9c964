import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Answer } from '../../lib/orders/absorb.ts'
import { anyJsonText, anyText, mostly, text, uuid, words } from './hostile.ts'
import { workOn } from './worker.ts'

const data = mostly({
  source: words('shop'),
  external_id: words('1', '2'),
  status: fc.oneof(words('needs_review', 'invoiced', 'paid', 'refunded'), anyText),
  request: anyText,
})

/** Messages of the line, and what others might put there. */
const message = fc.oneof(
  {
    weight: 20,
    arbitrary: mostly({
      event: words('order.updated', 'order.create', 'order.payment', 'order.refund', 'order.check'),
      delivery: uuid,
      data,
    }),
  },
  { weight: 2, arbitrary: anyJsonText },
  { weight: 2, arbitrary: text },
)

const statuses = ['needs_review', 'invoiced', 'paid', 'refunded', 'archived', '__proto__']

const answer = fc.oneof(
  fc.constantFrom(...statuses).map(status => ({ answer: 'result', status }) as const),
  fc.constant({ answer: 'refused' } as const),
  fc.constant({ answer: 'unknown order' } as const),
)

/** Anything may lie on the line: it is handled or put in quarantine, and nothing of it makes the worker fail. */
export const lineProperty = () =>
  fc.asyncProperty(
    fc.array(message, { minLength: 1, maxLength: 5 }),
    fc.array(answer, { minLength: 1, maxLength: 7 }),
    async (bodies, answers) => {
      let asked = 0
      const { quarantined } = await workOn(bodies, ({ to }, { source, external_id }): Answer => {
        const next = answers[asked++ % answers.length]
        if (next?.answer === 'result')
          return { to, answer: 'result', result: { source, external_id, status: next.status } }
        const reason = { status: 400, message: 'no' }
        return { to, answer: next?.answer ?? 'unknown order', reason }
      })
      assert.ok(quarantined <= bodies.length)
    },
  )
