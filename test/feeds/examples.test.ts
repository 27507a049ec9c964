import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { afterEach, expect, test } from '@jest/globals'
import { httpPost } from '../../lib/feeds/http.ts'
import type { FeedMessage } from '../../lib/feeds/message.ts'
import { feedQueueName, sqsFeeds } from '../../lib/feeds/sqs.ts'
import { freePorts } from '../../local/ports.ts'
import { createQueue, startParts } from '../support/parts.ts'
import { until } from '../support/until.ts'

let child: ChildProcessByStdio<null, Readable, null> | undefined

const end = async () => {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill()
  await ended
}
afterEach(end)

/** Runs an example as its header says, and answers with what it prints. */
const run = (example: string, args: string[], environment: Record<string, string>) => {
  const printed: string[] = []
  child = spawn(process.execPath, [`examples/${example}`, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => printed.push(text))
  return () => printed.join('')
}

const message: FeedMessage = {
  event: 'order.updated',
  delivery: randomUUID(),
  version: 3,
  cause: { event: 'order.payment', delivery: randomUUID() },
  data: { source: 'demo-shop', external_id: 'سفارش ۷', status: 'paid' },
}

test('node examples/http-receiver.ts says what it hears, and refuses what is not signed for it', async () => {
  const { relay: port } = await freePorts()
  const printed = run('http-receiver.ts', [], { FEED_SECRET: 'whsec', PORT: String(port) })
  await until(() => printed().includes('http://127.0.0.1'))

  const { event, delivery } = message
  const posting = { url: `http://127.0.0.1:${port}/webhook`, event, delivery, body: JSON.stringify(message) }
  await expect(httpPost()({ ...posting, secret: 'other' })).rejects.toThrow('it answered 401')
  await httpPost()({ ...posting, secret: 'whsec' })
  await httpPost()({ ...posting, secret: 'whsec' })
  await until(() => printed().includes('known: '))
  expect(printed()).toContain('news:  سفارش ۷ v3 order.updated paid\nknown: سفارش ۷ v3 order.updated paid\n')
})

test('node examples/sqs-consumer.ts says what it hears', async () => {
  const parts = await startParts()
  try {
    const line = await createQueue(parts.sqs, 'order-line.fifo')
    const feed = await createQueue(parts.sqs, feedQueueName('demo-shop'))
    await sqsFeeds(parts.sqs, line)(message)
    const printed = run('sqs-consumer.ts', [feed], {
      AWS_ENDPOINT_URL_SQS: parts.endpoints.sqs,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    })
    await until(() => printed() !== '')
    expect(printed()).toBe('news:  سفارش ۷ v3 order.updated paid\n')
  } finally {
    await end()
    await parts.close()
  }
})
