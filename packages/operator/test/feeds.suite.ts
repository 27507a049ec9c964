import { spawnSync } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { messageGroupOf } from '@order-relay/lib/platform/fifo.ts'
import { feedQueueName, QUEUES } from '@order-relay/lib/platform/names.ts'
import { undocumentedMessage } from '@order-relay/test-support/documents.ts'
import { fetchJson } from '@order-relay/test-support/fetch-json.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { drain } from '@order-relay/test-support/parts.ts'
import { startProgram } from '@order-relay/test-support/program.ts'
import { PERSIAN, ROOT, SELF } from '@order-relay/test-support/project.ts'
import { local, startRelay } from '@order-relay/test-support/relay.ts'
import { startServer } from '@order-relay/test-support/server.ts'
import { relayApi, storeOf } from '@order-relay/test-support/steps.ts'
import { until } from '@order-relay/test-support/until.ts'

const FEED = feedQueueName(PERSIAN)

const send = (external_id: string, source = PERSIAN) =>
  local.relay(['send', '--source', source, '--external-id', external_id, '--wait', '20s'])
const resend = (...args: string[]) => local.json(['stores', 'resend', PERSIAN, ...args])

/** Empties the feed; returns the order, version and cause of each message. */
const received = async () =>
  (await drain(local.stack().sqs, local.queue(FEED))).map(({ Body = '', Attributes }) => {
    const message = JSON.parse(Body)
    expect(undocumentedMessage(message)).toBeUndefined()
    expect(Attributes?.MessageGroupId).toBe(messageGroupOf(message.data))
    return `${message.data.external_id} v${message.version} ${message.cause.event}`
  })

export const feedTests = () => {
  const folder = useFolder()
  /** The response of an HTTP feed's endpoint. */
  let status: number
  let endpoint: Awaited<ReturnType<typeof startServer>>
  /** The last request to the endpoint. */
  let last: { headers: IncomingHttpHeaders; body: string } | undefined
  beforeAll(async () => {
    endpoint = await startServer(async ({ headers }, body) => {
      last = { headers, body: body.toString() }
      return { status, headers: { 'retry-after': '3600' } }
    })
  })
  afterAll(() => endpoint.close())

  test('a message received too often becomes a dead letter of its feed and can be replayed', async () => {
    await received()
    await send('poison')
    const list = async () => (await local.json(['dead', 'list', '--source', PERSIAN])).data.letters
    await until(async () => {
      await local.stack().sqs.receiveMessage({ QueueUrl: local.queue(FEED), VisibilityTimeout: 0 })
      return (await list()).length > 0
    })
    const doctor = await local.relay(['doctor'])
    expect(doctor.out).toContain('dead letters that its consumer could not handle: 1')
    expect(doctor.out).not.toContain('dead letters: none')
    const status = await local.relay(['status'])
    expect(status).toMatchObject({
      code: 1,
      out: expect.stringMatching(/!! feed-.*-dead-letters \(critical\)/),
    })
    expect(status.out).toMatch(new RegExp(`dead letters of ${PERSIAN} +1 `))
    const { stores } = (await local.json(['stores', 'list'])).data
    expect(stores).toContainEqual(expect.objectContaining({ source: PERSIAN, dead_letters: 1 }))
    const { messages } = (await local.json(['feeds', 'show', PERSIAN, 'poison'])).data
    expect(messages).toMatchObject([{ state: 'dead', attempts: [] }])
    expect(await list()).toMatchObject([{ from: 'feed', external_id: 'poison', event: 'order.updated' }])
    expect(JSON.stringify(await list())).not.toContain('superseded_by')
    await local.enqueue('orders.fifo', 'order.resend', { source: PERSIAN, external_id: 'poison' })
    await until(async () => (await list())[0].superseded_by === 2)
    const plan = await local.relay(['dead', 'replay', '--source', PERSIAN, '--dry-run'])
    expect(plan.out).toContain('notified again, although version 2 has superseded this message')
    const { out } = await local.relay(['dead', 'replay', '--source', PERSIAN])
    expect(out).toBe('Replayed 1 message.\n')
    expect(await received()).toEqual(['poison v2 order.resend', 'poison v1 order.updated'])
  })

  test('resends the orders of a store since a time, after an order or individually, with a new version', async () => {
    const began = new Date().toISOString()
    for (const id of ['first', 'resent', 'shown']) await send(id)
    await received()
    const found: string[] = []
    const resent = async (expected: object, ...args: string[]) => {
      const { data } = await resend(...args)
      expect(data).toMatchObject(expected)
      found.length = 0
      await until(async () => found.push(...(await received())) === data.sent)
      return found.toSorted()
    }
    const all = await resent({ sent: 3, total: 3, last: 'shown' }, '--since', began)
    expect(all).toEqual(['first v2', 'resent v2', 'shown v2'].map(each => `${each} order.resend`))
    const rest = await resent({ sent: 2 }, '--since', began, '--after', 'first')
    expect(rest).toEqual(['resent', 'shown'].map(id => `${id} v3 order.resend`))
    expect(await resent({ sent: 1 }, '--order', 'shown')).toEqual(['shown v4 order.resend'])
    expect((await local.relay(['stores', 'resend', PERSIAN])).code).toBe(2)
  })

  test('prints how to continue an interrupted resend', async () => {
    const source = 'demo-shop'
    for (const id of ['first', 'second', 'third']) await send(id, source)
    const args = ['stores', 'resend', source, '--local', '--since', '1h', '--rate', '1']
    const { child, ended } = startRelay(args, local.stack().environment)
    const feed = local.queue(feedQueueName(source))
    await until(async () => JSON.stringify(await drain(local.stack().sqs, feed)).includes('order.resend'))
    child.kill('SIGINT')
    const next = /Interrupted: \d+ remain; continue with .* --since \S+ --after \S+ --local\n$/
    expect(await ended).toMatchObject({ code: 1, out: expect.stringMatching(next) })
  })

  test('shows the queue and consumers of a store, with consumer code that runs as printed', async () => {
    await received()
    await send('consumed')
    const { data } = await local.json(['stores', 'show', PERSIAN])
    const { environment, aws_cli, role_policy: _, ...rest } = data.snippets
    const files: Record<string, string> = rest
    expect(Object.keys(files)).toEqual(['store.mjs', 'once.mjs', 'store.py', 'once.py'])
    const url = local.queue(FEED)
    expect(files['store.mjs']).toMatch(
      /^\/\/ npm install order-relay-store @aws-sdk\/client-sqs\n\/\/ Until .*\nimport /,
    )
    expect(files['store.py']).toMatch(/^# pip install boto3\nimport /)
    const arn = expect.stringMatching(new RegExp(`^arn:aws:sqs:.*:${FEED}$`))
    // Python and version 1 of the AWS CLI support no other variable, and the latter no endpoint variable.
    expect(environment.AWS_DEFAULT_REGION).toBe(environment.AWS_REGION)
    expect(aws_cli.split(`aws --endpoint-url ${new URL(url).origin} sqs `)).toHaveLength(3)
    expect(data).toMatchObject({
      feed: { kind: 'sqs', consumers: ['111122223333'], dead_letter_after: 2, dead_letters: 0 },
      queue: { url, arn, waiting: 1 },
      snippets: { role_policy: { Statement: [{ Action: expect.any(Array), Resource: [arn] }] } },
    })
    const { out } = await local.relay(['stores', 'show', PERSIAN])
    for (const part of [url, aws_cli, ...Object.values(files)]) expect(out).toContain(part)

    // As in a project that has the package installed.
    for (const [name, content] of Object.entries(files)) await writeFile(folder(name), content)
    await symlink(join(ROOT, 'node_modules'), folder('node_modules'))
    const env = { ...process.env, ...environment }
    const consume = async (external_id: string, program: string, file: string) => {
      const consumer = startProgram([file], { cwd: folder(), env, program })
      await consumer.printed(/^applied: .*\n/m)
      consumer.child.kill('SIGINT')
      const applied = `^Receiving from ${url}; Ctrl-C stops\napplied: ${external_id} v1 order.updated paid [\\da-f-]{36}\n$`
      expect((await consumer.ended).output).toMatch(new RegExp(applied))
    }
    await consume('consumed', process.execPath, 'store.mjs')
    if (spawnSync('python3', ['-c', 'import boto3']).status !== 0) {
      process.stdout.write('skipped: the consumer in Python, since boto3 is not installed\n')
      return
    }
    await send('python')
    await consume('python', 'python3', 'store.py')
  })

  test('shows the messages to a store with an HTTP feed, and immediately retries those that it refused', async () => {
    // Messages of other tests also wait for their next attempt.
    await local.empty(feedQueueName(SELF))
    status = 503
    const registration = (method: string) =>
      fetchJson(`${local.stack().urls.relay}/api/v1/webhook/`, {
        method,
        body: { url: endpoint.url },
        key: `local-${SELF}`,
      })
    const messages = async (external_id: string) =>
      (await local.json(['feeds', 'show', SELF, external_id])).data.messages.toReversed()
    const states = async (external_id: string) =>
      (await messages(external_id)).map(({ state }: { state: string }) => state).join()
    const order = (external_id: string) => storeOf(external_id, relayApi(`local-${SELF}`))
    const create = (external_id: string) => order(external_id).create({ source: SELF })

    await registration('PUT')
    await create('Refused-1')
    await order('Refused-1').pay(undefined, `?source=${SELF}`)
    await until(async () => (await states('Refused-1')) === 'failing,queued')
    const [refused, behind] = await messages('Refused-1')
    expect(behind).toMatchObject({ version: 2, behind: refused.delivery, attempts: [] })
    expect(refused.attempts).toEqual([
      expect.objectContaining({ outcome: 'failed', status: 503, receives: 1, ms: expect.any(Number) }),
    ])
    expect(Date.parse(refused.last.next_at) - Date.now()).toBeGreaterThan(3_000_000)
    const { out: shown } = await local.relay(['stores', 'show', SELF])
    expect(shown).toMatch(/^feed +HTTP, to the URL that the store registers\nurl +http/m)
    const { snippets } = (await local.json(['stores', 'show', SELF])).data
    expect(snippets.environment.PORT).toBe(new URL(endpoint.url).port)
    expect(snippets.environment.FEED_SECRET).toBe('the secret in the response to the registration')
    expect(snippets.registration).toMatch(
      /^curl -X PUT http:.*\/api\/v1\/webhook\/ .*-d '\{"url":"http:[^"]+"\}'$/,
    )
    const { out } = await local.relay(['feeds', 'show', SELF, 'Refused-1'])
    expect(out).toContain(`queued behind ${refused.delivery}`)
    const failed = ['feeds', 'list', '--source', SELF, '--outcome', 'failed', '--find', 'refused-']
    const { attempts } = (await local.json(failed)).data
    expect(attempts).toMatchObject([{ external_id: 'Refused-1', delivery: refused.delivery, status: 503 }])

    expect(await local.relay(['feeds', 'retry', SELF, 'Refused-1'])).toMatchObject({
      code: 1,
      out: expect.stringMatching(
        /^Retried: \S+\. It failed again: Cannot deliver to the store: it answered 503\. The next attempt is planned for \S+Z\.\n$/,
      ),
    })
    status = 200
    expect((await local.json(['feeds', 'retry', SELF, 'Refused-1'])).data).toMatchObject({
      delivery: refused.delivery,
      outcome: 'accepted',
    })
    await until(async () => (await states('Refused-1')) === 'accepted,accepted')
    expect(await local.json(['feeds', 'retry', SELF, 'Refused-1'])).toMatchObject({ code: 1 })
    const contentOf = async (delivery: string) =>
      (await local.json(['feeds', 'show', SELF, 'Refused-1', '--message', delivery])).data
    const { body, is_original, headers } = await contentOf(behind.delivery)
    expect({ body, is_original }).toEqual({ body: last?.body, is_original: true })
    expect(Object.keys(last?.headers ?? {}).toSorted()).toEqual(
      [...headers, 'connection', 'content-length', 'host'].toSorted(),
    )
    // The payment has changed the order since its first message.
    expect(await contentOf(refused.delivery)).toMatchObject({ is_original: false })
    const shownMessage = await local.relay([
      'feeds',
      'show',
      SELF,
      'Refused-1',
      '--message',
      refused.delivery,
    ])
    expect(shownMessage.out).toMatch(
      /^As it would be sent now: [\s\S]*"version": 1,[\s\S]*\nNames of the headers: content-type, /,
    )
    expect(await local.relay(['feeds', 'show', SELF, 'Refused-1', '--message', 'x'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('the history of the order has no message "x"'),
    })
    const listed = (await local.relay(['feeds', 'list', '--find', refused.delivery])).out
    expect(listed).toMatch(/3 +accepted +200 .*\n.*2 +failed +503 /)

    status = 401
    await create('Unverified')
    await until(async () => (await states('Unverified')) === 'failing')
    const showUnverified = async () => (await local.relay(['feeds', 'show', SELF, 'Unverified'])).out
    expect(await showUnverified()).toMatch(
      /answered 401 at \S+Z: it refused the signature of the message\n +→ check that the store has the secret/,
    )
    status = 200
    await local.json(['feeds', 'retry', SELF, 'Unverified'])
    await until(async () => (await states('Unverified')) === 'accepted')
    expect(await showUnverified()).not.toContain('→')

    status = 503
    await create('Refused-2')
    await until(async () => (await states('Refused-2')) === 'failing')
    status = 200
    expect((await local.json(['feeds', 'retry', SELF])).data).toMatchObject({
      retried: 1,
      accepted: 1,
    })
    await until(async () => (await states('Refused-2')) === 'accepted')

    // A dead letter, as the feeder sends it.
    const letter = await local.enqueue(QUEUES.feedsDead, 'order.updated', {
      source: SELF,
      external_id: 'Refused-2',
    })
    expect(await local.relay(['feeds', 'retry', SELF, 'Refused-2'])).toMatchObject({
      code: 1,
      out: `A message of the order is a dead letter. To send it again, run relay dead replay ${letter} --local\n`,
    })
    expect((await local.relay(['feeds', 'retry', SELF])).out).toContain(
      'Orders whose first waiting message was retried: 0. Dead letters, which only a replay retries: 1\n',
    )
    const { stores } = (await local.json(['stores', 'list'])).data
    const dead = { dead_letters: 1, more_dead_letters: false }
    expect(stores).toContainEqual(expect.objectContaining({ source: SELF, ...dead }))
    expect((await local.json(['stores', 'show', SELF])).data.feed).toMatchObject(dead)
    const command = `relay dead replay --source ${SELF}`
    for (const about of [['stores', 'show', SELF], ['status']])
      expect((await local.relay(about)).out).toMatch(
        new RegExp(
          `messages to the store "${SELF}" are dead letters: 1 message since .*\n.*${command} --local`,
        ),
      )
    const whyWaits = (await local.relay(['orders', 'show', SELF, 'Refused-2'])).out
    expect(whyWaits).toMatch(
      /^message to the store has been waiting for an operator since .*: the message is a dead letter/m,
    )
    expect(whyWaits).toContain(`${command} --order Refused-2 --local\n`)
    expect(whyWaits).not.toContain('Nothing waits.')
    expect((await local.relay(['orders', 'list', '--source', SELF])).out).toContain(
      'dead letter to the store',
    )
    await local.empty(QUEUES.feedsDead)
    await registration('DELETE')
    await create('Refused-3')
    await until(async () => (await states('Refused-3')) === 'unsent')
    expect((await messages('Refused-3'))[0].last).toMatchObject({ code: 'unregistered' })
    const unsent = (await local.relay(['feeds', 'show', SELF, 'Refused-3'])).out
    expect(unsent).toMatch(/ unsent +unregistered +- +20\S+Z\nunregistered: .* has registered no webhook URL/)
    expect(Math.max(...unsent.split('\n').map(line => line.length))).toBeLessThan(140)
    await send('by queue')
    expect((await local.json(['feeds', 'show', PERSIAN, 'by queue'])).data).toMatchObject({
      feed: 'sqs',
      messages: [{ state: 'sent', version: 1 }],
    })
    const [{ delivery }] = (await local.json(['feeds', 'show', PERSIAN, 'by queue'])).data.messages
    const queued = await local.json(['feeds', 'show', PERSIAN, 'by queue', '--message', delivery])
    expect(queued.data).toMatchObject({ is_original: true, attributes: [] })
    expect(JSON.parse(queued.data.body)).toMatchObject({ delivery, version: 1, event: 'order.updated' })
    expect((await local.relay(['feeds', 'retry', PERSIAN])).err).toContain(
      `its feed is an SQS queue, from which the store receives them; to return its dead letters to the queue, run relay dead replay --source '${PERSIAN}' --local`,
    )
  })
}
