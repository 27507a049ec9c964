import { expect, test } from '@jest/globals'
import { type Windows, windowFindings } from '../../cli/doctor/windows.ts'

const HOUR = 60 * 60
const DAY = 24 * HOUR

/** The settings of serverless.yml. */
const sound: Windows = {
  deliveryTtl: 30 * DAY,
  deadRetention: 14 * DAY,
  queueRetention: 14 * DAY,
  queueVisibility: 180,
  maxReceives: 200,
  webhookTimeout: 9,
  workerTimeout: 30,
}

const problems = (change: Partial<Windows>) =>
  windowFindings({ ...sound, ...change })
    .filter(({ level }) => level === 'problem')
    .map(({ check }) => check)

test('the windows of the relay fit together', () => {
  expect(problems({})).toEqual([])
  expect(windowFindings(sound)).toHaveLength(5)
})

test.each<[string, Partial<Windows>, string[]]>([
  [
    'a memory shorter than the retries of the sender',
    { deliveryTtl: 31 * HOUR },
    [
      'deliveries are remembered for as long as the sender retries',
      'deliveries are remembered for as long as dead letters can be replayed',
    ],
  ],
  [
    'a memory shorter than the retention of dead letters',
    { deliveryTtl: 13 * DAY },
    ['deliveries are remembered for as long as dead letters can be replayed'],
  ],
  [
    'a visibility timeout too short for the worker',
    { workerTimeout: 31 },
    ['messages stay invisible while the worker processes them'],
  ],
  [
    'a receiver slower than the timeout of the sender',
    { webhookTimeout: 10 },
    ['the receiver responds before the sender gives up'],
  ],
  [
    'more receives than fit into the retention',
    { maxReceives: 1500 },
    ['failing messages become dead letters before they expire'],
  ],
  [
    'no dead-letter queue',
    { maxReceives: undefined },
    ['failing messages become dead letters before they expire'],
  ],
])('%s is a problem with a remedy', (_name, change, expected) => {
  expect(problems(change)).toEqual(expected)
  for (const { level, remedy } of windowFindings({ ...sound, ...change }))
    expect(remedy !== undefined).toBe(level === 'problem')
})
