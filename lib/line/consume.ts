import type { SQSRecord } from 'aws-lambda'
import * as v from 'valibot'
import type { Advanced } from '../orders/advance.ts'
import { invalid } from '../protocol/errors.ts'
import { isTooDeep, parseJson } from '../protocol/json.ts'
import type { Quarantine } from '../quarantine.ts'
import { telemetry } from '../telemetry.ts'
import { type LineMessage, lineMessage } from './messages.ts'

const read = (body: string): { message: LineMessage } | { unreadable: string } => {
  try {
    const json = parseJson(body)
    if (isTooDeep(json)) return { unreadable: 'The body is nested too deep' }
    const parsed = v.safeParse(lineMessage, json)
    return parsed.success ? { message: parsed.output } : { unreadable: invalid(parsed.issues).error.message }
  } catch {
    return { unreadable: 'The body is not JSON' }
  }
}

export type Ports = {
  advance: (message: LineMessage) => Promise<Advanced>
  quarantine: Quarantine
  now: () => Date
}

/**
 * Handles one record of the order line. What cannot be read will not be readable later either: it goes to
 * quarantine at once instead of holding up its order (promise P12).
 */
export const consume =
  ({ advance, quarantine, now }: Ports) =>
  async (record: Pick<SQSRecord, 'body' | 'messageId'>): Promise<void> => {
    const reading = read(record.body)
    if ('unreadable' in reading) {
      const body = Buffer.from(record.body)
      await quarantine({ from: 'line', reason: reading.unreadable, body, received_at: now().toISOString() })
      telemetry.warn('line message quarantined', { messageId: record.messageId, reason: reading.unreadable })
      telemetry.count('Quarantined', { from: 'line' })
      return
    }
    const { message } = reading
    const { delivery, event, data } = message
    const advanced = await advance(message)
    telemetry.info('order advanced', {
      delivery,
      event,
      source: data.source,
      external_id: data.external_id,
      ...advanced,
    })
    telemetry.count('Advanced', { event, changed: String(advanced.changed) })
  }
