import { SQS } from '@aws-sdk/client-sqs'
import { expect, test } from '@jest/globals'
import { createQueue, startParts } from '@order-relay/test-support/parts.ts'
import { faultIn } from '../../conformance/log.ts'
import { sqsFeed } from '../../conformance/sqs-feed.ts'
import { messageMaker } from '../../model/sample-messages.ts'
import { atEnd } from './support.ts'

test('distinguishes a queue that nothing reads from a store that does not delete a message in time', async () => {
  const parts = await startParts()
  atEnd(parts.close)
  const queueUrl = await createQueue(parts.sqs, 'feed-shop.fifo')
  const { feed } = sqsFeed({ sqs: parts.sqs, queueUrl, wait: 1 })
  const message = messageMaker({ source: 'shop' }, 'slow')
  const [sent, behind] = [message('1', 1), message('1', 2)]
  await feed.publish([sent])
  const left = /^left 1 message in the queue for 1 s/
  expect(await feed.settle()).toEqual({ wrong: expect.stringMatching(left) })
  await parts.sqs.receiveMessage({ QueueUrl: queueUrl, VisibilityTimeout: 30 })
  const slow = expect.stringContaining('the store is slower than --wait')
  expect(await feed.settle()).toEqual({ wrong: expect.stringMatching(left), remedy: slow })
  expect(await feed.takeBack(sent, behind)).toEqual({
    wrong: expect.stringContaining('invisible for more than 1 s'),
    remedy: expect.stringContaining('visibility timeout'),
  })
})

test('names another reader of the queue as the possible cause of a message that the store did not handle', () => {
  const message = messageMaker({ source: 'shop' }, 'lost')('1', 1)
  const { feed } = sqsFeed({ sqs: new SQS({ region: 'eu-central-1' }), queueUrl: '', wait: 1 })
  expect(faultIn(feed, '', { handled: [message] })).toMatchObject({
    wrong: expect.stringContaining('another program reads the queue'),
    remedy: expect.stringContaining('stop any other program that reads the queue'),
  })
})

test('does not blame another reader of the queue for a message whose version was handled with another delivery', () => {
  const message = messageMaker({ source: 'shop' }, 'same')
  const [first, second] = [message('1', 1), message('1', 1, 'order.rejected')]
  const { feed } = sqsFeed({ sqs: new SQS({ region: 'eu-central-1' }), queueUrl: '', wait: 1 })
  // The remedy is then the one of the check.
  expect(faultIn(feed, first.delivery, { handled: [first, second] })).toEqual({
    wrong: expect.stringMatching(
      /^did not handle "order\.rejected" of version 1 after it had handled the other message of this version: /,
    ),
  })
})

test('counts a message that was handled twice, and names remedies for a queue only', () => {
  const message = messageMaker({ source: 'shop' }, 'twice')('1', 2)
  const { feed } = sqsFeed({ sqs: new SQS({ region: 'eu-central-1' }), queueUrl: '', wait: 1 })
  const { delivery } = message
  expect(faultIn(feed, `${delivery} ${delivery}`, { handled: [message] })).toEqual({
    wrong: 'handled the same message 2 times (version 2): the change is applied again',
  })
  for (const remedy of [feed.failureRemedy, feed.killRemedy]) expect(remedy).not.toMatch(/500|2xx/)
})
