import { expect, test } from '@jest/globals'
import { type Windows, windowFindings } from '../../cli/doctor/windows.ts'

const HOUR = 60 * 60
const DAY = 24 * HOUR

/** As serverless.yml has them. */
const sound: Windows = {
  memory: 30 * DAY,
  deadRetention: 14 * DAY,
  lineRetention: 14 * DAY,
  lineVisibility: 180,
  maxReceives: 200,
  webhookTimeout: 9,
  workerTimeout: 30,
}

const problems = (change: Partial<Windows>) =>
  windowFindings({ ...sound, ...change })
    .filter(({ level }) => level === 'problem')
    .map(({ check }) => check)

test('the windows of the relay compose', () => {
  expect(problems({})).toEqual([])
  expect(windowFindings(sound)).toHaveLength(5)
})

test.each<[string, Partial<Windows>, string[]]>([
  [
    'a memory shorter than the sender repeats',
    { memory: 31 * HOUR },
    [
      'deliveries are remembered while the sender repeats them',
      'deliveries are remembered while dead letters can be replayed',
    ],
  ],
  [
    'a memory shorter than dead letters are kept',
    { memory: 13 * DAY },
    ['deliveries are remembered while dead letters can be replayed'],
  ],
  [
    'a message handed out while the worker may still have it',
    { workerTimeout: 31 },
    ['a message is not handed out again while the worker has it'],
  ],
  [
    'a receiver slower than its sender is patient',
    { webhookTimeout: 10 },
    ['the receiver answers before the sender gives up'],
  ],
  [
    'so many tries that a message expires before',
    { maxReceives: 1500 },
    ['a message that always fails becomes a dead letter before it expires'],
  ],
  ['no dead-letter queue', { maxReceives: undefined }, ['a message that always fails becomes a dead letter']],
])('%s is found, with a remedy', (_name, change, expected) => {
  expect(problems(change)).toEqual(expected)
  for (const { level, remedy } of windowFindings({ ...sound, ...change }))
    expect(remedy !== undefined).toBe(level === 'problem')
})
