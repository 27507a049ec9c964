import { sign } from '../../lib/protocol/signature.ts'
import type { Clock } from './clock.ts'
import { type Doors, SECRET } from './doors.ts'

/** How deliveries and requests come. */
export type Pattern = {
  /** `repeated`: once more after it was taken; `concurrent`: twice at the same instant, every time. */
  comes: 'once' | 'repeated' | 'concurrent'
  /** How long until an attempt that failed is made again, in milliseconds; the schedule ends with the last. */
  waits: readonly number[]
}

type Attempt = { skew: number; status: number | undefined }

export type Sent = {
  delivery: string
  body: Uint8Array
  /** The time that was signed at first, unix seconds. */
  signedAt: number
  taken: boolean
  given_up: boolean
  attempts: Attempt[]
}

/** The accounting service's sender of webhooks: signs each attempt anew, tries again until a 2xx. */
export const webhookSender = (clock: Clock, doors: Doors, { comes, waits }: Pattern) => {
  const sent: Sent[] = []

  const post = (of: Sent, t: number, heard: (made: boolean) => void) => {
    const { body } = of
    const skew = Math.abs(Math.floor(clock.now() / 1000) - t)
    const headers = { 'x-service-signature': sign({ secret: SECRET, t, body }) }
    doors.webhook({ headers, body }, answer => {
      of.attempts.push({ skew, status: answer?.status })
      heard(answer?.status === 200)
    })
  }

  /** @param fast how far the sender's clock goes ahead, in milliseconds, asked at every attempt */
  const send = (delivery: string, body: Uint8Array, fast: () => number = () => 0): Sent => {
    const t = () => Math.floor((clock.now() + fast()) / 1000)
    const record: Sent = { delivery, body, signedAt: t(), taken: false, given_up: false, attempts: [] }
    sent.push(record)
    const attempt = (tries: number) => {
      const copies = comes === 'concurrent' ? 2 : 1
      let waiting = copies
      for (let copy = 0; copy < copies; copy++)
        post(record, t(), made => {
          const first = made && !record.taken
          if (made) record.taken = true
          waiting--
          if (first && comes === 'repeated') clock.after(waits[0] ?? 0, () => post(record, t(), () => {}))
          if (waiting > 0 || record.taken) return
          const wait = waits[tries]
          if (wait === undefined) record.given_up = true
          else clock.after(wait, () => attempt(tries + 1))
        })
    }
    attempt(0)
    return record
  }

  /** Somebody who overheard the first attempt of the n-th webhook, from 0, sends it again as it was. */
  const playBack = (index: number) => {
    const heard = sent[index]
    if (heard !== undefined) post(heard, heard.signedAt, () => undefined)
  }

  return { sent, send, playBack }
}
