import * as v from 'valibot'
import type { Part } from '../context.ts'
import { atMost, spread, times } from '../report.ts'
import { script } from '../script.ts'
import { measured, ratio } from '../statistics.ts'

const found = v.object({ one: v.array(v.number()), ten: v.array(v.number()) })

/** A batch of ten orders beside one, with a service that takes 100 ms. */
export const worker: Part = async () => {
  const { one, ten } = v.parse(found, await script('bench/worker.ts'))
  const compared = ratio(ten, one)
  return {
    title: 'A batch in the worker',
    text: [
      'The worker with a batch of one order and with one of ten different orders, in turn. Each order is new: it ' +
        'is read, the accounting service is called and takes 100 ms, the store is told, the order is kept.',
    ],
    tables: [
      {
        head: ['one order, ms', 'ten orders, ms', 'ten to one', 'orders a second of one worker'],
        rows: [
          [
            spread(measured(one)),
            spread(measured(ten)),
            times(compared),
            spread(measured(ten.map(milliseconds => 10_000 / milliseconds))),
          ],
        ],
      },
    ],
    targets: [atMost('a batch of 10 orders with 100 ms of service, to one order', 1.5, compared)],
  }
}
