import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { AccountingError } from '../../lib/accounting/errors.ts'
import { waitBeforeRetry } from '../../lib/line/retry.ts'
import { telemetry } from '../../lib/telemetry.ts'
import { record } from './records.ts'

const spies = () => ({
  error: jest.spyOn(telemetry, 'error').mockImplementation(() => undefined),
  count: jest.spyOn(telemetry, 'count').mockImplementation(() => undefined),
  seconds: jest.spyOn(telemetry, 'seconds').mockImplementation(() => undefined),
})
let heard: ReturnType<typeof spies>
beforeEach(() => {
  heard = spies()
})
afterEach(() => {
  jest.restoreAllMocks()
})

const first = record('a1', { ApproximateReceiveCount: '3', SentTimestamp: '10000' })
const behind = [record('a2'), record('a3')]

/** What is kept back, and for how long. */
const waiting = async (error: unknown) => {
  const kept: unknown[] = []
  const wait = waitBeforeRetry(
    async (records, seconds) => {
      kept.push(
        records.map(({ messageId }) => messageId),
        seconds,
      )
    },
    () => 1,
    () => 25_000,
  )
  await wait(error, first, behind)
  return kept
}

describe('a message that failed', () => {
  test('waits the longer the more often it came, and with it what stands behind it', async () => {
    const error = new Error('no answer')
    expect(await waiting(error)).toEqual([['a1', 'a2', 'a3'], 20])
    expect(heard.error).toHaveBeenCalledWith('message waits', error, {
      messageId: 'a1',
      receives: 3,
      seconds: 20,
      behind: 2,
    })
    expect(heard.count.mock.calls).toEqual([['Retried']])
  })

  test('tells its age in seconds, for SQS will not', async () => {
    await waiting(new Error('no answer'))
    expect(heard.seconds.mock.calls).toEqual([['FailingAge', 15]])
  })

  test('waits at least as long as the service asks', async () => {
    const busy = new AccountingError('unavailable', 'busy', { status: 429, retryAfter: 1000 })
    expect(await waiting(busy)).toEqual([['a1', 'a2', 'a3'], 1100])
  })

  test('is counted apart when no order can be served', async () => {
    await waiting(new AccountingError('unauthorized', 'key of Sara Ahmadi', { status: 401 }))
    expect(heard.count.mock.calls).toEqual([['ServiceUnauthorized']])
  })

  test("is logged without the service's words, which may name a customer", async () => {
    await waiting(new AccountingError('rejected', 'Sara Ahmadi', { status: 503 }))
    expect(heard.error.mock.calls[0]?.[1]).toEqual(new Error('The accounting service answered 503'))
  })

  test('is logged with its own words when the service gave no answer', async () => {
    const error = new AccountingError('unavailable', 'Cannot ask: timeout')
    await waiting(error)
    expect(heard.error.mock.calls[0]?.[1]).toBe(error)
  })
})
