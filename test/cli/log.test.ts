import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import type { Context } from '../../cli/core/context.ts'
import { type LogLine, logOf, newestOf } from '../../cli/core/log.ts'
import { visible } from '../../lib/platform/visible.ts'
import { logFile } from '../../local/log.ts'

const BEGIN = Date.parse('2026-11-21T12:00:00Z')
const COUNT = 4000

const minute = (index: number) => new Date(BEGIN + index * 60_000)

/** A line a minute, long enough for bisection; one is longer than what is read at once. */
const lineOf = (index: number) =>
  visible(
    JSON.stringify({
      ...{ level: 'INFO', message: index % 3 === 0 ? 'event processed' : 'delivery received' },
      ...{
        timestamp: minute(index),
        source: index % 2 === 0 ? 'api' : 'shop',
        external_id: `\u202eo-${index % 10}`,
      },
      ...{ number: index, text: 'x'.repeat(index === 1500 ? 4_500_000 : 150) },
    }),
  )

const lines = Array.from({ length: COUNT }, (_, index) => `${lineOf(index)}\n{"_aws":{}}\nnot JSON\n`)
const dataDir = mkdtempSync(join(tmpdir(), 'order-relay-log-'))
writeFileSync(`${logFile(dataDir)}.old`, lines.slice(0, 1000).join(''))
// The stack is writing the last line.
writeFileSync(logFile(dataDir), `${lines.slice(1000).join('')}${lineOf(COUNT).slice(0, 100)}`)

const context = { local: true, dataDir } as Context
const numberOf = ({ fields }: LogLine) => Number(fields.number)
const everything = lines.map((_, index) => index)

test.each([0, 1000, 1501, COUNT])('the log is read from minute %d on', async first => {
  const found: number[] = []
  for await (const line of logOf(context, { since: minute(first), follow: false })) found.push(numberOf(line))
  expect(found).toEqual(everything.slice(first))
  const newest = { since: minute(first), fields: { source: ['api', 'shop'] } }
  expect(await newestOf(context, newest, COUNT, numberOf)).toEqual(found.toReversed())
})

test('the newest lines are found by message and fields, and one more than asked for', async () => {
  const newest = {
    ...{ since: minute(500), messages: ['event processed'] },
    fields: { external_id: ['\u202eo-3', '\u202eo-4'], source: ['shop'] },
  }
  const expected = everything.filter(each => each >= 500 && each % 3 === 0 && each % 10 === 3).toReversed()
  expect(await newestOf(context, newest, COUNT, numberOf)).toEqual(expected)
  const found: number[] = []
  for await (const line of logOf(context, { ...newest, follow: false })) found.push(numberOf(line))
  expect(found.toReversed()).toEqual(expected)
  expect(await newestOf(context, newest, 2, numberOf)).toEqual(expected.slice(0, 3))
  const odd = (line: LogLine) => (numberOf(line) % 100 === 3 ? numberOf(line) : undefined)
  expect(await newestOf(context, newest, 1, odd)).toEqual(
    expected.filter(each => each % 100 === 3).slice(0, 2),
  )
})
