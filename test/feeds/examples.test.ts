import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { afterEach, expect, test } from '@jest/globals'
import { httpDelivery } from '../../lib/feeds/deliver.ts'
import { type FeedMessage, feedPublisher } from '../../lib/orders/feed.ts'
import { httpClient } from '../../lib/platform/http-client.ts'
import { feedQueueName } from '../../lib/platform/names.ts'
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

/** Runs an example as its header says, and returns a function that returns what it has printed. */
const run = (example: string, args: string[], environment: Record<string, string>) => {
  const printed: string[] = []
  child = spawn(process.execPath, [`examples/${example}`, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
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

test('node examples/http-receiver.ts prints what it receives, and refuses what another secret signed', async () => {
  const { relay: port } = await freePorts()
  const printed = run('http-receiver.ts', [], { FEED_SECRET: 'whsec', PORT: String(port) })
  await until(() => printed().includes('http://127.0.0.1'))

  const { event, delivery } = message
  const deliver = (...secrets: string[]) => {
    const url = `http://127.0.0.1:${port}/webhook`
    const send = httpDelivery({ http: httpClient(), now: Date.now })
    return send({ url, event, delivery, body: JSON.stringify(message), secrets })
  }
  await expect(deliver('other')).rejects.toThrow('it answered 401')
  await deliver('whsec')
  await deliver('next', 'whsec')
  expect(printed()).toMatch(/\napplied: سفارش ۷ v3 order.updated paid\n$/)
})

test('node examples/sqs-consumer.ts prints what it receives', async () => {
  const parts = await startParts()
  try {
    const orders = await createQueue(parts.sqs, 'orders.fifo')
    const feed = await createQueue(parts.sqs, feedQueueName('demo-shop'))
    await feedPublisher(parts.sqs, orders, [])(message)
    const printed = run('sqs-consumer.ts', [feed], {
      AWS_ENDPOINT_URL_SQS: parts.endpoints.sqs,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    })
    await until(() => printed() !== '')
    expect(printed()).toBe('applied: سفارش ۷ v3 order.updated paid\n')
  } finally {
    await end()
    await parts.close()
  }
})
