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

const RETRIES = 'deliveries are remembered for as long as the sender retries'
const REPLAYS = 'deliveries are remembered for as long as dead letters can be replayed'
const INVISIBLE = 'messages stay invisible while the worker processes them'
const ANSWERED = 'the receiver responds before the sender gives up'
const DEAD = 'failing messages become dead letters before they expire'

test.each<[Partial<Windows>, string[]]>([
  [{}, []],
  [{ deliveryTtl: 31 * HOUR }, [RETRIES, REPLAYS]],
  [{ deliveryTtl: 13 * DAY }, [REPLAYS]],
  [{ workerTimeout: 31 }, [INVISIBLE]],
  [{ webhookTimeout: 10 }, [ANSWERED]],
  [{ maxReceives: 1500 }, [DEAD]],
  [{ maxReceives: undefined }, [DEAD]],
])('of all settings, with %j there are the problems %j, with remedies', (change, expected) => {
  const findings = windowFindings({ ...sound, ...change })
  expect(findings.map(({ check }) => check)).toEqual([RETRIES, REPLAYS, INVISIBLE, ANSWERED, DEAD])
  const problems = findings.filter(({ level }) => level === 'problem')
  expect(problems.map(({ check }) => check)).toEqual(expected)
  expect(findings.filter(({ remedy }) => remedy !== undefined)).toEqual(problems)
})
