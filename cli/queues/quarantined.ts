import * as v from 'valibot'
import { type LineMessage, lineMessage } from '../../lib/line/messages.ts'
import { invalid } from '../../lib/protocol/errors.ts'
import { read } from '../../lib/webhook/read.ts'
import type { Letter } from './browse.ts'
import { jsonOf, saidBy } from './said.ts'
import type { Described } from './selection.ts'

/** What `lib/quarantine.ts` puts into the queue. */
const entry = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    from: v.picklist(['webhook', 'line']),
    reason: v.string(),
    body_base64: v.string(),
    received_at: v.string(),
  }),
)

/** What would become of it now, perhaps with a newer relay than the one that could not read it. */
type Reading = { message: LineMessage; text: string } | { unreadable: string }

/** Something authentic that could not be read. */
export type Quarantined = Described & {
  letter: Letter
  from: string
  /** What was wrong with it when it came. */
  reason: string
  body: Buffer
  reading: Reading
}

const readWebhook = (body: Uint8Array): Reading => {
  const reading = read(body)
  switch (reading.kind) {
    case 'order.updated':
      return { message: reading.webhook, text: reading.text }
    case 'other event':
      return { unreadable: `The event "${reading.event}" is none that the relay carries` }
    case 'unreadable':
      return { unreadable: reading.reason }
  }
}

const readLine = (text: string): Reading => {
  const parsed = v.safeParse(lineMessage, jsonOf(text))
  return parsed.success
    ? { message: parsed.output, text }
    : { unreadable: invalid(parsed.issues).error.message }
}

/** Reads a message of the quarantine queue, whatever is in it. */
export const quarantinedOf = (letter: Letter): Quarantined => {
  const parsed = v.safeParse(entry, letter.body)
  const { from, reason, body_base64, received_at } = parsed.success
    ? parsed.output
    : {
        from: 'somewhere else',
        reason: 'It was not put there by the relay',
        body_base64: Buffer.from(letter.body).toString('base64'),
        received_at: letter.sent.toISOString(),
      }
  const body = Buffer.from(body_base64, 'base64')
  const text = body.toString('utf8')
  const { delivery, ...said } = saidBy(text)
  return {
    letter,
    ids: [letter.id, ...(delivery === undefined ? [] : [delivery])],
    ...said,
    at: new Date(received_at),
    from,
    reason,
    body,
    reading:
      from === 'line' ? readLine(text) : from === 'webhook' ? readWebhook(body) : { unreadable: reason },
  }
}
