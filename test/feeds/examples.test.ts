import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { afterEach, describe, expect, test } from '@jest/globals'
import { httpDelivery } from '../../lib/feeds/deliver.ts'
import { type FeedMessage, feedPublisher } from '../../lib/orders/feed.ts'
import { httpClient } from '../../lib/platform/http-client.ts'
import { feedQueueName } from '../../lib/platform/names.ts'
import { freePorts } from '../../local/ports.ts'
import { useFolder } from '../support/folder.ts'
import { createQueue, startParts } from '../support/parts.ts'
import { until } from '../support/until.ts'

let child: ChildProcess | undefined

const end = async () => {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill()
  await ended
}
afterEach(end)

/** Runs an example as its header says, and returns a function that returns what it has printed. */
const run = (program: string, args: string[], environment: Record<string, string>) => {
  const printed: string[] = []
  const started = spawn(program, args, { env: { ...process.env, ...environment } })
  child = started
  for (const stream of [started.stdout, started.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => printed.push(text))
  }
  return () => printed.join('')
}

const isInstalled = (program: string) => spawnSync(program, ['--version']).status === 0

const message: FeedMessage = {
  event: 'order.updated',
  delivery: randomUUID(),
  version: 3,
  cause: { event: 'order.payment', delivery: randomUUID() },
  data: { source: 'demo-shop', external_id: 'سفارش ۷', status: 'paid' },
}

describe.each<[program: string, args: (port: number) => string[]]>([
  [process.execPath, () => ['examples/http-receiver.ts']],
  ['python3', () => ['examples/http-receiver.py']],
  // PHP's own default, with which it answers 200 to an exception.
  ['php', port => ['-d', 'display_errors=1', '-S', `127.0.0.1:${port}`, 'examples/http-receiver.php']],
])('the HTTP receiver by %s', (program, argsFor) => {
  const database = useFolder()
  const installed = isInstalled(program)
  if (!installed) process.stdout.write(`skipped: the example for ${program}, which is not installed\n`)
  const here = installed ? test : test.skip
  here('applies each message once, and refuses what another secret signed and what it fails on', async () => {
    const { relay: port } = await freePorts()
    const environment = { FEED_SECRET: 'whsec', PORT: String(port), DATABASE: database('store.sqlite') }
    const printed = run(program, argsFor(port), environment)
    await until(() => printed().includes('http://127.0.0.1'))

    const send = (
      body: string,
      secrets: string[],
      { event, delivery }: { event: string; delivery: string },
    ) =>
      httpDelivery({ http: httpClient(), now: Date.now })({
        ...{ url: `http://127.0.0.1:${port}/webhook`, event, delivery, body, secrets },
      })
    const deliver = (changes: Partial<FeedMessage>, ...secrets: string[]) => {
      const sent = { ...message, ...changes }
      return send(JSON.stringify(sent), secrets, sent)
    }
    await expect(deliver({}, 'other')).rejects.toThrow('it answered 401')
    // What the receiver fails on must not be answered with 2xx.
    await expect(send('authentic, and no message', ['whsec'], message)).rejects.toThrow('the store')
    await deliver({}, 'whsec')
    await deliver({}, 'next', 'whsec')
    await deliver({ version: 2, delivery: randomUUID() }, 'whsec')
    await deliver({ version: 4, delivery: randomUUID() }, 'whsec')
    await until(() => printed().includes('v4'))
    const applied = [...printed().matchAll(/applied: (.*)/g)].map(([, line]) => line)
    expect(applied).toEqual(['سفارش ۷ v3 order.updated paid', 'سفارش ۷ v4 order.updated paid'])
  })
})

test('node examples/sqs-consumer.ts prints what it receives', async () => {
  const parts = await startParts()
  try {
    const orders = await createQueue(parts.sqs, 'orders.fifo')
    const feed = await createQueue(parts.sqs, feedQueueName('demo-shop'))
    await feedPublisher(parts.sqs, orders, [])(message)
    const printed = run(process.execPath, ['examples/sqs-consumer.ts', feed], {
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
