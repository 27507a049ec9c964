import type { Part } from '../context.ts'
import { type Count, KINDS } from '../counts.ts'
import { ours, powertools } from '../implementations.ts'
import { shown, type Target } from '../report.ts'

const WANTED = { first: 3, duplicate: 1, foreign: 0, forged: 0 } as const

/** AWS calls and billed units of each kind of delivery, counted on the wire. */
export const calls: Part = async ({ counts }) => {
  const { receivers, worker } = await counts()
  const row = (name: string, kind: string, count: Count) => {
    const { calls, actions, writeUnits, readUnits, sqsRequests, logBytes } = count
    const numbers = [writeUnits, readUnits, sqsRequests, logBytes]
    return [name, kind, shown(calls), actions.join(', ') || '–', ...numbers.map(shown)]
  }
  const rows = [...receivers].flatMap(([{ name }, kinds]) => KINDS.map(kind => row(name, kind, kinds[kind])))
  const mine = receivers.get(ours)
  const theirs = receivers.get(powertools)
  const found = KINDS.map(kind => mine?.[kind].calls ?? Number.NaN)
  const units = [mine?.first.writeUnits ?? Number.NaN, theirs?.first.writeUnits ?? Number.NaN] as const
  const targets: Target[] = [
    {
      what: `AWS calls: ${KINDS.join(' / ')}`,
      target: KINDS.map(kind => WANTED[kind]).join(' / '),
      found: found.map(shown).join(' / '),
      met: KINDS.every((kind, index) => found[index] === WANTED[kind]),
    },
    {
      what: 'billed write units of a first delivery, to peer (b)',
      target: '≤ 0.5 ×',
      found: `${shown(units[0] / units[1])} × (${shown(units[0])} to ${shown(units[1])})`,
      met: units[0] <= units[1] / 2,
    },
  ]
  return {
    title: 'AWS calls',
    text: [
      'Twenty deliveries of each kind with a body of 2 KB, counted between function and emulators by a proxy, ' +
        'which asks DynamoDB what each call consumes. A first delivery is new, a duplicate is one of those again ' +
        'with a new signature, a foreign one is of a store that is not ours, a forged one has a wrong signature. ' +
        'Here it is also verified that all implementations do the same job: their answers, and what is on the line.',
      'Left out is what does not belong to a delivery: the secret, read at the first delivery of an instance and ' +
        'every five minutes, and at most once a minute in a flood of forgeries.',
    ],
    tables: [
      {
        head: ['', 'delivery', 'calls', 'which', 'write units', 'read units', 'SQS requests', 'bytes logged'],
        rows: [...rows, row('worker', 'a webhook from the line', worker)],
      },
    ],
    targets,
  }
}
