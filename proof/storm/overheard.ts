import { STATUSES } from '../../lib/protocol/order.ts'
import type { Link } from './faults.ts'
import type { Journal } from './journal.ts'

const DELIVERY = /\\*"delivery\\*":\\*"([0-9a-f-]{36})/
const STATUS = /"status":"(\w+)"/
const RECORDED = /"delivery":\{"S":"([0-9a-f-]{36})"\}/
const REVISION = /"revision":\{"N":"(\d+)"\}/
const RECEIPT_HANDLE = /"ReceiptHandle":"([^"]+)"/g

export const deliveryIn = (body: Buffer): string => DELIVERY.exec(body.toString('utf8'))?.[1] ?? ''

const rankIn = (body: Buffer): number =>
  (STATUSES as readonly string[]).indexOf(STATUS.exec(body.toString('utf8'))?.[1] ?? '')

/** What passes from one part to another: the action of AWS, where it is one, and the order that it is about. */
export type Passing = { link: Link; action: string; about: string; body: Buffer }

/** Learns which messages an event source wants to be deleted. */
export const hearDeletion = ({ deleted }: Journal, asked: object): void => {
  for (const [, handle = ''] of JSON.stringify(asked).matchAll(RECEIPT_HANDLE)) deleted.add(handle)
}

/** Learns from a request that is made, whether or not it ever arrives. */
export const hearRequest = (
  { webhooks, queued, recordedFirst }: Journal,
  { link, action, about, body }: Passing,
): void => {
  const text = body.toString('utf8')
  const recorded = RECORDED.exec(text)?.[1]
  if (link === 'webhook to AWS' && action === 'PutItem' && recorded !== undefined && !queued.has(recorded))
    recordedFirst.add(`${recorded} of ${about}`)
  if (link === 'service to relay') webhooks.add(deliveryIn(body))
}

/** Learns from a request that arrives: whether the relay knows better by now than it is told. */
export const hearArrival = ({ known, outdated }: Journal, { link, about, body }: Passing): void => {
  if (link !== 'service to relay') return
  const rank = rankIn(body)
  if (rank < (known.get(about) ?? rank)) outdated.add(deliveryIn(body))
  known.set(about, Math.max(rank, known.get(about) ?? rank))
}

/** Learns from an answer. */
export const hearAnswer = (
  { known, queued, revisions }: Journal,
  { link, action, about, body }: Passing,
  answer: { status: number; body: Buffer },
): void => {
  if (answer.status >= 300) return
  if (link === 'webhook to AWS' && action === 'SendMessage') queued.add(deliveryIn(body))
  const revision = REVISION.exec(body.toString('utf8'))?.[1]
  if (link === 'worker to AWS' && action === 'PutItem' && revision !== undefined) {
    const name = `${revision} of ${about}`
    revisions.set(name, (revisions.get(name) ?? 0) + 1)
  }
  if (link !== 'worker to service') return
  const rank = rankIn(answer.body)
  known.set(about, Math.max(rank, known.get(about) ?? rank))
}
