import { setTimeout as sleep } from 'node:timers/promises'
import { expect, jest, test } from '@jest/globals'
import PQueue from 'p-queue'
import Lambda from 'serverless-offline/lambda'
import { limitFunctions } from '../gateway.ts'

test('replaces the thread of an invocation that times out, and allows extra load time only for the first', async () => {
  const cleanup = jest.fn(async () => undefined)
  const runHandler = jest.fn<() => Promise<unknown>>(async () => 'done')
  const lambda = { setEvent: () => undefined, setClientContext: () => undefined, runHandler, cleanup }
  Lambda.prototype.get = () => lambda
  const queue = new PQueue()
  limitFunctions(() => ({ queue, timeout: 20 }))
  const run = () =>
    Promise.race([Lambda.prototype.get('x').runHandler(), sleep(5000, 'late', { ref: false })])

  runHandler.mockImplementationOnce(() => sleep(50, 'loaded'))
  expect(await run()).toBe('loaded')
  expect(await run()).toBe('done')
  await sleep(50)
  expect(cleanup).not.toHaveBeenCalled()
  runHandler.mockImplementationOnce(() => sleep(10_000, undefined, { ref: false }))
  await expect(run()).rejects.toThrow('Task timed out after 0.02 seconds')
  expect(cleanup).toHaveBeenCalledTimes(1)
})
