import { execFile } from 'node:child_process'
import { parseEnv, promisify } from 'node:util'
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { expect, test } from '@jest/globals'
import { readEnvironment } from '@order-relay/local/credentials.ts'
import { codeBlocks, curlCommands, undocumentedMessage } from '@order-relay/test-support/documents.ts'
import { fetchJson } from '@order-relay/test-support/fetch-json.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { ROOT } from '@order-relay/test-support/project.ts'
import { local, relay, startRelay } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'
import { createClient } from '../src/client.ts'
import type { FeedMessage } from '../src/messages.ts'
import { onceInMemory } from '../src/once.ts'
import { consumeFeed } from '../src/sqs.ts'

const SOURCE = 'demo-shop'
const ORDERS = ['kit-1', 'kit-2', 'kit-3']

/** A store that uses the package, connected to the local stack. */
export const storeTests = () => {
  const folder = useFolder()

  test('the documents of the interfaces are served without a key', async () => {
    const { relay } = local.stack().urls
    const read = async (path: string) => (await fetch(relay + path)).text()
    expect(await read('/docs')).toContain('/docs/swagger-ui.css')
    expect(await read('/docs/swagger-ui.css')).toContain('.swagger-ui')
    for (const other of ['/docsearch', '/docs/none']) expect(await read(other)).not.toContain('swagger-ui')
    const page = await read('/docs/feeds')
    for (const [, id] of page.matchAll(/href="#([^"]*)"/g)) expect(page).toContain(`id="${id}"`)
    expect(page).not.toMatch(/undefined|\[object/)
    expect(await (await fetch(`${relay}/openapi.json`)).json()).toMatchObject({ openapi: '3.1.0' })
    expect(await (await fetch(`${relay}/asyncapi.json`)).json()).toMatchObject({ asyncapi: '3.1.0' })
  })

  test('the commands of docs/integrate.md work in order', async () => {
    const statuses = []
    for (const { path, ...options } of curlCommands('docs/integrate.md', 'http://127.0.0.1:3000')) {
      const { status, body } = await fetchJson(local.stack().urls.relay + path, options)
      statuses.push([status, body.status])
    }
    expect(statuses).toEqual([
      [201, 'invoiced'],
      [200, 'paid'],
      [200, 'refunded'],
      [200, 'refunded'],
    ])
    // The documented command, which points any AWS SDK at this stack.
    const exported = codeBlocks('docs/integrate.md', 'sh').find(block => block.startsWith('export ')) ?? ''
    const script = `${exported.replace('.order-relay', local.stack().dataDir)}env`
    const { stdout } = await promisify(execFile)('sh', ['-c', script], { env: { PATH: process.env.PATH } })
    const before = process.env
    process.env = { ...before, ...parseEnv(stdout) }
    try {
      const receive = { QueueUrl: local.queue(`feed-${SOURCE}.fifo`), VisibilityTimeout: 0 }
      const { Messages = [] } = await new SQSClient().send(new ReceiveMessageCommand(receive))
      expect(Messages.map(({ Body = '' }) => JSON.parse(Body).data.source)).toContain(SOURCE)
    } finally {
      process.env = before
    }
  })

  test('a store handles each version once and in order, even if its handler fails and its consumer is restarted', async () => {
    const client = createClient({ baseUrl: local.stack().urls.relay, key: `local-${SOURCE}`, source: SOURCE })
    const once = onceInMemory()
    const handled = new Map<string, FeedMessage[]>()
    let attempts = 0
    const handle = (message: FeedMessage) => {
      expect(undocumentedMessage(message)).toBeUndefined()
      const { external_id } = message.data
      if (!ORDERS.includes(external_id)) return
      attempts += 1
      if (attempts === 2 || attempts === 5) throw new Error('The database is unavailable')
      handled.set(external_id, [...(handled.get(external_id) ?? []), message])
    }
    const consume = () => {
      const stop = new AbortController()
      const running = consumeFeed({
        sqs: local.stack().sqs,
        queueUrl: local.queue(`feed-${SOURCE}.fifo`),
        handle,
        once,
        signal: stop.signal,
        visibilityTimeout: 2,
        onError: () => undefined,
      })
      return () => {
        stop.abort()
        return running
      }
    }
    const live = async (external_id: string) => {
      await client.create({ external_id, items: [{ sku: 'SKU-1', quantity: 1, unit_price: 1000 }] })
      await client.pay(external_id, { method: 'card', reference: external_id })
      const { id, state } = await client.refund(external_id)
      expect({ id, state }).toEqual({ id: expect.any(String), state: 'registered' })
    }
    const first = consume()
    await Promise.all(ORDERS.map(live))
    await first()
    const second = consume()
    await until(() => ORDERS.every(id => handled.get(id)?.at(-1)?.version === 3))
    await second()
    for (const id of ORDERS) {
      expect(handled.get(id)?.map(({ version, data }) => [version, 'status' in data && data.status])).toEqual(
        [
          [1, 'invoiced'],
          [2, 'paid'],
          [3, 'refunded'],
        ],
      )
      expect((await client.read(id)).relay).toMatchObject({ version: 3 })
    }
  })

  test('relay conformance tests the example, prints each result when its check ends, and refuses a deployed store', async () => {
    const { dataDir, environment } = local.stack()
    const consumer = [
      process.execPath,
      `${ROOT}/examples/sqs-consumer.ts`,
      local.queue(`feed-${SOURCE}.fifo`),
    ]
    // In a separate process, so that its calls are not recorded: they need the store's permissions, not the operator's.
    const start = async (database: string, ...options: string[]) =>
      startRelay(['--local', 'conformance', SOURCE, ...options, '--', ...consumer], {
        ...environment,
        ...(await readEnvironment(dataDir)),
        DATABASE: folder(database),
      })
    const complete = await start('store.sqlite', '--only', 'duplicates', '--wait', '20s')
    const { code, output } = await complete.ended
    expect(output).toMatch(/ok {2}duplicates: .* once and in order\nNo problems .*"relay-conformance-…"/)
    expect(code).toBe(0)
    const interrupted = await start('interrupted.sqlite')
    expect(await interrupted.printed(/ok {2}delivery: /)).not.toBeNull()
    interrupted.child.kill('SIGINT')
    expect((await interrupted.ended).output).toMatch(/Cannot finish: interrupted/)
    expect(await relay(['conformance', SOURCE])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Cannot test .* --test-store/),
    })
  })
}
