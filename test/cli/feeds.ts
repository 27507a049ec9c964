import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { feedDeadQueueName, feedQueueName } from '../../lib/platform/names.ts'
import { PERSIAN } from '../e2e/relay.ts'
import { undocumentedMessage } from '../support/documents.ts'
import { drain } from '../support/parts.ts'
import { until } from '../support/until.ts'
import { local, ROOT, spawnRelay } from './relay.ts'

const FEED = feedQueueName(PERSIAN)

const send = (external_id: string, ...options: string[]) =>
  local.relay(['send', '--source', PERSIAN, '--external-id', external_id, '--wait', '20s', ...options])

/** What waits in the feed, which is then empty: order, version and cause of each message. */
const received = async () =>
  (await drain(local.stack().sqs, local.queue(FEED))).map(({ Body = '' }) => {
    const message = JSON.parse(Body)
    expect(undocumentedMessage(message)).toBeUndefined()
    return `${message.data.external_id} v${message.version} ${message.cause.event}`
  })

const resend = (...args: string[]) => local.json(['stores', 'resend', PERSIAN, ...args])

export const feedTests = () => {
  let began: string

  test('what a consumer receives too often is a dead letter of its feed, and is replayed to it', async () => {
    await received()
    began = new Date().toISOString()
    const { sqs } = local.stack()
    await send('poison')
    const QueueUrl = local.queue(FEED)
    const dead = local.queue(feedDeadQueueName(PERSIAN))
    await until(async () => {
      await sqs.receiveMessage({ QueueUrl, VisibilityTimeout: 0 })
      const { Attributes } = await sqs.getQueueAttributes({
        QueueUrl: dead,
        AttributeNames: ['ApproximateNumberOfMessages'],
      })
      return Attributes?.ApproximateNumberOfMessages === '1'
    })
    expect((await local.relay(['doctor'])).out).toContain('1 dead letter that its consumer could not handle')
    const { letters } = (await local.json(['dead', 'list', '--source', PERSIAN])).data
    expect(letters).toMatchObject([{ from: 'feed', external_id: 'poison', event: 'order.updated' }])
    const { out } = await local.relay(['dead', 'replay', '--source', PERSIAN])
    expect(out).toBe('Replayed 1 message.\n')
    expect(await received()).toEqual(['poison v1 order.updated'])
  })

  test('the orders of a store are resent since a time, after an order, or one by one, each with its next version', async () => {
    for (const id of ['resent', 'shown']) await send(id)
    await received()
    expect((await resend('--since', began)).data).toMatchObject({ sent: 3, total: 3, last: 'shown' })
    const found: string[] = []
    const receives = (count: number) =>
      until(async () => {
        found.push(...(await received()))
        return found.length >= count
      })
    await receives(3)
    expect(found.sort()).toEqual(['poison', 'resent', 'shown'].map(id => `${id} v2 order.resend`))
    expect((await resend('--since', began, '--after', 'poison')).data).toMatchObject({ sent: 2 })
    await receives(5)
    expect((await resend('--order', 'shown')).data).toMatchObject({ sent: 1, last: 'shown' })
    await receives(6)
    expect(found.slice(3).sort()).toEqual(
      ['resent v3', 'shown v3', 'shown v4'].map(each => `${each} order.resend`),
    )
    expect((await resend('--since', '2099-01-01')).data).toMatchObject({ sent: 0, total: 0 })
    const usage = await local.relay(['stores', 'resend', PERSIAN])
    expect(usage).toMatchObject({ code: 2, err: expect.stringContaining('one of --since and --order') })
    const unknown = await local.relay(['stores', 'resend', PERSIAN, '--order', 'none'])
    expect(unknown.err).toContain(`the relay has no order "none" of "${PERSIAN}"`)
  })

  test('a resend that is interrupted says how it is continued', async () => {
    const args = ['stores', 'resend', 'demo-shop', '--local', '--since', '1h', '--rate', '1']
    const child = spawnRelay(args, local.stack().environment)
    const printed: string[] = []
    child.stdout.setEncoding('utf8').on('data', text => printed.push(text))
    const { sqs } = local.stack()
    const QueueUrl = local.queue(feedQueueName('demo-shop'))
    await until(async () => JSON.stringify(await drain(sqs, QueueUrl)).includes('order.resend'))
    child.kill('SIGINT')
    expect(await once(child, 'close')).toEqual([1, null])
    expect(printed.join('')).toMatch(
      /Interrupted: \d+ remain; continue with relay stores resend demo-shop --since \S+ --after \S+ --local\n$/,
    )
  })

  // Last: the local queue gives one more message to a consumer that is gone.
  test('a store is shown with its queue, its consumers, and a consumer that runs as it is printed', async () => {
    await drain(local.stack().sqs, local.queue(FEED))
    await send('consumed')
    const { data } = await local.json(['stores', 'show', PERSIAN])
    const url = local.queue(FEED)
    const arn = expect.stringMatching(new RegExp(`^arn:aws:sqs:.*:${FEED}$`))
    expect(data).toMatchObject({
      feed: { kind: 'sqs', consumers: ['111122223333'], dead_letter_after: 2, dead_letters: 0 },
      queue: { url, arn, waiting: 1 },
      snippets: { role_policy: { Statement: [{ Action: expect.any(Array), Resource: [arn] }] } },
    })
    const { out } = await local.relay(['stores', 'show', PERSIAN])
    for (const part of [url, data.snippets.code, data.snippets.aws_cli[0]]) expect(out).toContain(part)

    // As in a project that has the package installed.
    const code = data.snippets.code.replace("'order-relay-store/sqs'", "'./kit/src/sqs.ts'")
    const consumer = spawn(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: ROOT,
      env: { ...process.env, ...data.snippets.environment },
    })
    try {
      const [printed] = await once(consumer.stdout, 'data')
      expect(String(printed)).toBe('applied: consumed v1 order.updated paid\n')
    } finally {
      consumer.kill('SIGINT')
      await once(consumer, 'close')
    }
  })
}
