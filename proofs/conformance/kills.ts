import { DatabaseSync } from 'node:sqlite'
import type { SQS } from '@aws-sdk/client-sqs'
import { expect, test } from '@jest/globals'
import { startEventSource } from '@order-relay/local/event-source.ts'
import { sqsFeed } from '@order-relay/operator/conformance/sqs-feed.ts'
import { messageMaker, type Sent } from '@order-relay/operator/model/sample-messages.ts'
import type { SQSEvent } from 'aws-lambda'
import { createFeeder } from '../../lib/feeds/handler.ts'
import { httpClient } from '../../lib/platform/http-client.ts'
import { feedQueueName, PARAMETERS, QUEUES, TABLES } from '../../lib/platform/names.ts'
import { context } from '../../test/support/lambda.ts'
import { createQueue } from '../../test/support/parts.ts'
import { recordingTelemetry } from '../../test/support/telemetry.ts'
import { until } from '../../test/support/until.ts'
import { shortenDelays } from '../chaos/relay.ts'
import type { Change, Example, Examples } from './examples.ts'

const ORDERS = ['a', 'b', 'c']
const message = messageMaker({ source: 'shop' }, 'kills')

/** Three versions of each order, each sent twice, with an older one in between. */
const published = ORDERS.flatMap(order => {
  const [first, second, third] = [1, 2, 3].map(version => message(order, version)) as [Sent, Sent, Sent]
  return [first, first, second, first, second, third, second, third]
})

/** Exits the first time it reaches this point with this version of an order. */
const dying = (version: number, id: string) => `{
  const { existsSync, writeFileSync } = process.getBuiltinModule('node:fs')
  const mark = \`\${process.env.DATABASE}.\${${id}}.${version}\`
  if (version === ${version} && !existsSync(mark)) {
    writeFileSync(mark, '')
    process.kill(process.pid, 'SIGKILL')
  }
}`

/** Makes an example write to its database, and exit before it commits one version and acknowledges another. */
const deadly = (example: string): Change[] => [
  [example, 'delivery }) => {', 'delivery }, db) => {'],
  [
    example,
    /console\.log\('applied:'.*/,
    `db.exec('CREATE TABLE IF NOT EXISTS effects (external_id, version)')
    db.prepare('INSERT INTO effects VALUES (?, ?)').run(data.external_id, version)
    ${dying(2, 'data.external_id')}`,
  ],
  [
    'examples/once.ts',
    "db.exec('COMMIT')",
    `db.exec('COMMIT'); const { version } = message; ${dying(3, 'external_id')}`,
  ],
]

/** Publishes all messages, waits for their acknowledgement, and expects each version in the database once, in order. */
const expectOnce = async (sqs: SQS, { store, queueUrl, database }: Example) => {
  let isOver = false
  const supervised = (async () => {
    while (!isOver) {
      await store.start()
      await until(() => isOver || !store.isRunning(), 90_000)
    }
  })()
  try {
    const { feed } = sqsFeed({ sqs, queueUrl, wait: 80 })
    await feed.publish(published)
    expect(await feed.settle()).toBeUndefined()
  } finally {
    isOver = true
    await supervised
    await store.kill()
  }
  const versions = new DatabaseSync(database, { readOnly: true }).prepare(
    'SELECT version FROM effects WHERE external_id LIKE ? ORDER BY rowid',
  )
  for (const order of ORDERS)
    expect(versions.all(`%-${order}`).map(({ version }) => version)).toEqual([1, 2, 3])
  expect(store.ends()).toBe(2 * ORDERS.length)
}

export const killTests = ({ parts, copyOf }: Examples) => {
  test.concurrent('a queue consumer handles each version once and in order, even if it is killed at any point', async () =>
    expectOnce(parts().sqs, await copyOf('examples/sqs-consumer.ts', deadly('examples/sqs-consumer.ts'))))

  test.concurrent('an HTTP receiver handles each version once and in order, even if it is killed at any point', async () => {
    const { dynamodb, sqs, ssm, queueUrl } = parts()
    const example = await copyOf('examples/http-receiver.ts', deadly('examples/http-receiver.ts'))
    const secretsPath = '/order-relay/test'
    await ssm.putParameter({
      Name: `${secretsPath}/${PARAMETERS.feedSecrets}/shop`,
      Value: example.secret,
      Type: 'SecureString',
    })
    shortenDelays(sqs, { retries: 10, timeouts: 1 })
    const feed = createFeeder({
      dynamodb,
      sqs,
      ssm,
      client: httpClient,
      now: Date.now,
      random: Math.random,
      stores: [{ source: 'shop', feed: { http: example.url, disable_after: 3600 } }],
      settings: {
        ordersQueueUrl: queueUrl(QUEUES.orders),
        feedsDeadQueueUrl: queueUrl(QUEUES.feedsDead),
        registrationsTable: TABLES.registrations,
        historyTable: TABLES.history,
        secretsPath,
        feedAddresses: 'loopback',
        feedAttempts: 'all',
      },
      telemetry: recordingTelemetry().telemetry,
    })
    const queue = feedQueueName('shop')
    await createQueue(sqs, queue, { VisibilityTimeout: '20' })
    const source = startEventSource({
      sqs,
      queueUrl: queueUrl(queue),
      onError: () => undefined,
      invoke: event => feed(event as SQSEvent, context()),
    })
    try {
      await expectOnce(sqs, { ...example, queueUrl: queueUrl(queue) })
    } finally {
      await source.stop()
    }
  })
}
