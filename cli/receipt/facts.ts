import type { Held } from '../../lib/orders/table.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import type { AtService } from '../replay/presumed.ts'
import type { Recorded } from '../stored/deliveries.ts'
import type { Heard } from './heard.ts'

/** An order here and, if it was asked for, at the service. */
export type Compared = {
  key: OrderKey
  held: Held | undefined
  service: AtService | { unread: string } | undefined
}

/** What lies aside or waits, when the receipt is made. */
export type Queues = {
  /** Delivery and request ids of the dead letters, as far as SQS shows them. */
  dead: ReadonlySet<string>
  /** How many more there are, behind others of their orders. */
  deadHidden: number
  /** Ids within what the worker put into quarantine. */
  quarantined: ReadonlySet<string>
  /** Messages on the order line. */
  waiting: number
  left: { dead: number; quarantined: number }
}

/** Everything that a receipt is made of. */
export type Facts = Queues & {
  since: Date
  until: Date
  /** Undefined when there is no log. */
  heard: Heard | undefined
  recorded: ReadonlyMap<string, Recorded>
  orders: ReadonlyMap<string, Compared>
}

/** One order as a key of a map. */
export const nameOf = ({ source, external_id }: OrderKey): string => JSON.stringify([source, external_id])
