import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { newOrder, type Order, type RequestView } from '@order-relay/lib/orders/order.ts'
import { BULK_SHARDS, orderRepository } from '@order-relay/lib/orders/repository.ts'
import { keyItem } from '@order-relay/lib/orders/stored.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { ROOT } from '@order-relay/test-support/project.ts'
import { local, type RunOptions, startRelay } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'

const isKnown = async (external_id: string) =>
  (await local.relay(['orders', 'show', 'api', external_id])).code === 0

export const monitorTests = () => {
  const folder = useFolder()

  test('erases an order that has not changed for five minutes', async () => {
    await local.create('erased', {}, 'relay')
    const erase = ['orders', 'erase', 'api', 'erased', '--yes', 'erased']
    expect((await local.relay(erase)).err).toContain('it changed less than five minutes ago')
    await local.stack().dynamodb.updateItem({
      TableName: 'orders',
      Key: keyItem({ source: 'api', external_id: 'erased' }),
      UpdateExpression: 'SET updated_at = :at',
      ExpressionAttributeValues: { ':at': { S: '2026-01-01T00:00:00.000Z' } },
    })
    const { data } = await local.json([...erase, '--reason', 'request 17'])
    expect(data).toMatchObject({ erased: true, erases: { orders: 1, history: 1 } })
    const { out } = await local.relay(['orders', 'erasures'])
    expect(out).toMatch(/ erase +api erased +1 orders, 1 history, 0 deliveries +- +request 17$/m)
    // The service still has the order.
    await local.relay(['orders', 'check', 'api', 'erased'])
    const shown = async () => (await local.json(['orders', 'show', 'api', 'erased'])).data
    await until(async () => (await shown()).erased_at === undefined)
    expect(await shown()).toMatchObject({ version: 2, result: { status: 'invoiced' } })
  })

  test('withdraws an open request on behalf of its store', async () => {
    const items = [{ sku: 'sold by nobody', quantity: 1, unit_price: 1 }]
    await local.store('POST', '', { external_id: 'withdrawn', items })
    const withdraw = (...args: string[]) => local.relay(['orders', 'withdraw', 'api', 'withdrawn', ...args])
    expect((await withdraw('create', '--yes', 'another')).err).toContain('it was not confirmed by its name')
    expect((await withdraw('payment', '--yes', 'withdrawn')).err).toContain('none is open')
    expect((await withdraw('create', '--yes', 'withdrawn')).code).toBe(0)
    const requests = async (): Promise<RequestView[]> =>
      (await local.json(['orders', 'show', 'api', 'withdrawn'])).data.requests
    await until(async () => (await requests()).some(({ state }) => state === 'withdrawn'))
  })

  test('retries waiting orders, and reports those whose events cannot be released', async () => {
    const repository = orderRepository(local.stack().dynamodb, 'orders', { random: Math.random })
    const at = new Date().toISOString()
    for (const queue of ['orders', 'bulk'] as const) {
      const failing = { event: 'order.check', delivery: randomUUID(), queue, receives: 1, behind: 0 }
      const times = { since: at, at, next_at: at, code: 'unavailable', message: 'down' }
      await repository.fail({ source: 'api', external_id: `retried-${queue}` }, { ...failing, ...times }, [
        'h',
      ])
    }
    const { data } = await local.json(['orders', 'retry', '--cause', 'unavailable'])
    expect(data).toMatchObject({ released: 0, checked: 0, dead: 0, received: 2, gone: 0, total: 2 })
  })

  test('sends a webhook, traces it by its delivery, and shows it in the order', async () => {
    const { code, data } = await local.json(['send', '--external-id', 'w-1', '--status', 'needs_review'])
    expect(data).toMatchObject({ taken: true, status: 200, answer: { status: 'queued' } })
    expect(code).toBe(0)
    expect((await local.json(['deliveries', 'show', data.delivery])).data).toMatchObject({
      external_id: 'w-1',
      status: 'needs_review',
      forgotten: false,
      headers: { t: expect.stringMatching(/^\d+$/), 'content-type': 'application/json; charset=utf-8' },
      body: expect.stringContaining('insufficient stock'),
    })

    await until(() => isKnown('w-1'))
    const { data: order } = await local.json(['orders', 'show', 'api', 'w-1'])
    const result = { status: 'needs_review', error: 'insufficient stock' }
    expect(order).toMatchObject({ version: 1, result })
    const { data: found } = await local.json(['find', data.delivery])
    expect(found.orders).toMatchObject([{ source: 'api', external_id: 'w-1' }])

    const { out } = await local.relay(['tail', '--no-follow', '--since', '1m', '--delivery', data.delivery])
    // The worker may finish before the webhook function writes its log line.
    expect(out).toMatch(/delivery received outcome=queued /)
    expect(out).toMatch(/event processed .*external_id=w-1/)

    const existing = ['send', '--external-id', 'w-1', '--delivery', data.delivery]
    const refusal = 'Cannot change w-1, an order of api: it was not confirmed by its name'
    expect((await local.relay(existing)).err).toContain(refusal)
    const again = await local.json(existing, { input: 'w-1' })
    expect(again.data.answer).toEqual({ status: 'duplicate' })

    const outcomes = async (...filter: string[]) => {
      const { deliveries } = (await local.json(['deliveries', 'list', ...filter])).data
      return deliveries.flatMap((each: Record<string, string>) =>
        each.delivery === data.delivery ? [each.outcome] : [],
      )
    }
    expect(await outcomes()).toEqual(['duplicate', 'queued'])
    expect(await outcomes('--outcome', 'queued', '--source', 'api')).toEqual(['queued'])
    expect(await outcomes('--source', 'demo-shop')).toEqual([])
    await local.relay(['send', '--external-id', 'w-1', '--age', '301', '--yes', 'w-1'])
    const { out: refused } = await local.relay(['deliveries', 'list', '--outcome', 'refused', '--limit', '1'])
    expect(refused).toMatch(/^RECEIVED .*\n\S+ +refused +the signature is too old, or in the future /)
    await local.relay(['send', '--file', join(ROOT, 'package.json')])
    const { out: quarantined } = await local.relay(['deliveries', 'list', '--outcome', 'quarantined'])
    expect(quarantined).toMatch(
      /^RECEIVED .*\n\S+ +quarantined +the signature is valid, but the body cannot be read\b/,
    )
    await local.relay(['send', '--external-id', 'w-2', '--delivery', data.delivery])
    const reused = await local.relay(['deliveries', 'list', '--outcome', 'quarantined', '--limit', '1'])
    expect(reused.out).toMatch(
      /^RECEIVED .*\n\S+ +quarantined +its delivery id belongs to another order +api +w-2 /,
    )
    // The id finds the order and the quarantined webhook.
    const both = await local.relay(['find', data.delivery])
    expect(both.out).toMatch(/ w-1 .*\nIn quarantine: relay quarantine show \S+ --local\n$/)
    await local.empty('quarantine')
  })

  test('a discarded webhook that is sent again is quarantined again', async () => {
    const file = join(folder(), 'unreadable.json')
    await writeFile(file, randomUUID())
    const ids = async () => {
      const { entries } = (await local.json(['quarantine', 'list'])).data
      return entries.map(({ id }: { id: string }) => id)
    }
    for (let time = 0; time < 2; time++) {
      for (let repetition = 0; repetition < 2; repetition++) await local.relay(['send', '--file', file])
      const [id, ...others] = await ids()
      expect([id, others]).toEqual([expect.any(String), []])
      expect((await local.relay(['quarantine', 'discard', id, '--yes', id])).code).toBe(0)
      expect(await ids()).toEqual([])
    }
  })

  test('a delivery in quarantine is found and shown by its id', async () => {
    const delivery = randomUUID()
    await local.quarantine('webhook', JSON.stringify({ event: 'order.updated', delivery }))
    const { data } = await local.json(['deliveries', 'show', delivery])
    expect(data).toMatchObject({
      outcome: 'quarantined',
      delivery,
      error: 'an older version could not read it',
    })
    const [{ id }] = (await local.json(['quarantine', 'list'])).data.entries
    for (const text of [delivery, id, id.slice(0, 8)]) {
      const found = await local.relay(['find', text])
      expect(found).toMatchObject({ code: 0 })
      expect(found.out).toBe(`In quarantine: relay quarantine show ${id} --local\n`)
    }
    await local.empty('quarantine')
  })

  test('a webhook in quarantine is found by the id of its header if its body has none', async () => {
    await writeFile(join(folder(), 'unreadable'), 'not JSON')
    const { data } = await local.json(['send', '--file', join(folder(), 'unreadable')])
    expect(data).toMatchObject({ taken: false, status: 400 })
    expect((await local.relay(['find', data.delivery])).out).toMatch(/^In quarantine: relay quarantine show /)
    await local.empty('quarantine')
  })

  test('a dead letter is found by its id and by that of its request', async () => {
    await local.enqueue('orders-dead.fifo', 'order.check', { external_id: 'unknown-order' })
    const [{ id, ...letter }] = (await local.json(['dead', 'list'])).data.letters
    for (const text of [id, letter.delivery]) {
      const found = await local.relay(['find', text])
      expect(found.out).toBe(`Dead letter: relay dead show ${id} --local\n`)
    }
    await local.empty('orders-dead.fifo')
  })

  test('imports shows the waiting orders of each store, their rate and the estimated completion', async () => {
    const orders = orderRepository(local.stack().dynamodb, 'orders', { random: Math.random })
    const source = 'demo-shop'
    const waiting = ['i-1', 'i-2', 'i-3', 'i-4'].map(external_id => newOrder({ source, external_id }))
    const save = (revision: number, bulk?: string) => (order: Order) =>
      orders.save({ order, outbox: undefined, bulk }, revision, Date.now() - 5000)
    expect((await local.json(['imports'])).data).toEqual({ events: 0, stores: [] })
    await Promise.all(waiting.map(save(0, 'its delivery')))
    const counting = local.json(['imports', '--for', '2s'])
    await until(async () => {
      let due = 0
      for (const shard of BULK_SHARDS) for await (const _ of orders.due(shard, Number.MAX_SAFE_INTEGER)) due++
      return due === 4
    })
    await sleep(1000)
    await Promise.all(waiting.slice(2).map(save(1)))
    const { data } = await counting
    const [{ perSecond, doneIn, ...about }] = data.stores
    expect(about).toEqual({ source, orders: 2 })
    // Two were completed in at least two seconds; the rate has one decimal.
    expect(perSecond).toBeLessThanOrEqual(1)
    expect(Math.abs(doneIn - 2 / perSecond)).toBeLessThan(1.5)
    await Promise.all(waiting.slice(0, 2).map(save(1)))
  })

  test('sends a file byte for byte, signed with a secret from the environment or standard input', async () => {
    const file = folder('body.json')
    const delivery = '0a9c3c5e-6d0f-4d1c-9c52-0d5a1b3c7e11'
    const data = `{"source":"api","external_id":"file","status":"paid"}`
    await writeFile(file, `{ "event":"order.updated",  "delivery":"${delivery}", "data":${data}}`)
    const send = (options?: RunOptions, ...args: string[]) =>
      local.json(['send', '--file', file, ...args], options)
    const secret = await local.webhookSecret()
    const sent = await send({ environment: { RELAY_WEBHOOK_SECRET: secret } })
    expect(sent).toMatchObject({ code: 0, data: { taken: true, delivery } })
    const again = await send({ input: `${secret}\n` }, '--secret-stdin')
    expect(again.data.answer).toEqual({ status: 'duplicate' })
    const forged = await send({ environment: { RELAY_WEBHOOK_SECRET: 'wrong' } })
    expect(forged).toMatchObject({ code: 1, data: { taken: false, status: 401 } })
    expect(await send({}, '--age', '301')).toMatchObject({ code: 1, data: { status: 401 } })
  })

  test('tail shows the last lines, then reports that it waits for new lines', async () => {
    await local.relay(['send', '--external-id', 'tailed', '--wait', '20s'])
    const order = ['--local', '--order', 'tailed']
    const { child, ended, printed } = startRelay(['tail', ...order], local.stack().environment)
    await printed(/Waiting for new lines/)
    child.kill('SIGINT')
    const { output } = await ended
    expect(output).toMatch(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z {2}delivery received .*\n(.*\n)*Waiting for new lines. Press Ctrl-C to stop.\n$/,
    )
    const { out, err } = await local.relay(['tail', '--no-follow', ...order.slice(1)])
    expect([out, err]).toEqual([output.replace(/Waiting.*\n/, ''), ''])
  })

  test('tail follows the log until it is interrupted', async () => {
    const args = ['tail', '--local', '--order', 'live', '--json', '--since', '1m']
    const { child, ended, printed } = startRelay(args, local.stack().environment)
    await local.relay(['send', '--external-id', 'live'])
    // The functions write concurrently.
    for (const message of [/delivery received/, /event processed/]) await printed(message)
    child.kill('SIGINT')
    const { signal, out } = await ended
    expect(signal).toBe('SIGINT')
    const messages = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).message)
    expect(messages).toEqual(expect.arrayContaining(['delivery received', 'event processed']))
  })
}
