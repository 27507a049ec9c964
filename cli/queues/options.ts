import { Option } from '@commander-js/extra-typings'
import { positive, since } from '../since.ts'

/** As many messages as are looked at, unless said otherwise. */
const LIMIT = 1000

/** The options by which messages are chosen; each command of its own, since commander keeps values in them. */
export const filters = {
  source: () => new Option('--source <source>', 'only of this store'),
  order: () => new Option('--order <external_id>', 'only of this order'),
  event: () => new Option('--event <event>', 'only this event, such as order.payment'),
  since: () => new Option('--since <when>', 'only from then on: 2h, 7d, or a date').argParser(since),
  limit: () =>
    new Option('--limit <number>', 'look at so many messages at most').argParser(positive).default(LIMIT),
}
