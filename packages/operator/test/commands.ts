import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from '@jest/globals'
import { keyUseItem, storeKeyParameter } from '@order-relay/lib/api/keys.ts'
import { newOrder, type Order, type RequestView } from '@order-relay/lib/orders/order.ts'
import { BULK_SHARDS, orderRepository } from '@order-relay/lib/orders/repository.ts'
import { keyItem } from '@order-relay/lib/orders/stored.ts'
import { PROBE_SOURCE } from '@order-relay/lib/platform/names.ts'
import { parametersBelow } from '@order-relay/lib/platform/parameters.ts'
import { deliveryRepository } from '@order-relay/lib/webhook/deliveries.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { ROOT } from '@order-relay/test-support/project.ts'
import { local, type RunOptions, startRelay } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'

const ORDERS = 24

/** The receiver's log lines. */
const received = async () => {
  const { out } = await local.relay(['tail', '--no-follow', '--since', '2m', '--json'])
  return out
    .split('\n')
    .filter(line => line.includes('"delivery received"'))
    .map(line => JSON.parse(line))
}

export const rotateTests = () => {
  test('webhooks with one signature each arrive once during a rotation, and the next run completes an interrupted one', async () => {
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: false })
    const ids = Array.from({ length: ORDERS }, (_, index) => `rotated-${index}`)
    for (const id of ids) await local.create(id)
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: true })

    let rotating = true
    const rotation = local.json(['rotate', '--lead', '0s', '--no-wait']).finally(() => {
      rotating = false
    })
    for (const external_id of ids) {
      const { body } = await local.sandbox('POST', `/panel/orders/${external_id}/retry?source=api`, {})
      expect(body.status).toBe('invoiced')
      if (rotating) await sleep(200)
    }
    const { data: begun } = await rotation
    expect(begun).toMatchObject({ retired: false, resumed: false, old: [expect.any(String)] })

    // A webhook with a secret that is not known yet is deferred and retried.
    const queued = async () =>
      (await received())
        .flatMap(({ outcome, external_id }) => (outcome === 'queued' ? [String(external_id)] : []))
        .filter(id => ids.includes(id))
    await until(async () => new Set(await queued()).size === ORDERS)
    expect((await queued()).sort()).toEqual(ids.toSorted())
    expect((await received()).filter(({ why }) => why === 'mismatch')).toEqual([])
    const { body } = await local.sandbox('GET', `/panel/deliveries?limit=${ORDERS}`)
    const signatures = JSON.stringify(body).match(/"x-service-signature":"[^"]*"/g)
    expect(signatures?.filter(each => !/:"t=\d+,v1=[0-9a-f]{64}"$/.test(each))).toEqual([])
    expect(signatures?.length).toBeGreaterThanOrEqual(ORDERS)

    expect((await local.relay(['doctor'])).out).toMatch(
      /2 webhook secrets are stored: .*\n.*delete the old one: relay rotate --local$/m,
    )
    const { data } = await local.json(['rotate', '--overlap', '0s'])
    expect(data).toMatchObject({ fresh: begun.fresh, old: begun.old, retired: true, resumed: true })
    expect((await local.relay(['doctor'])).out).toContain('No problems found')
  })
}

const isKnown = async (external_id: string) =>
  (await local.relay(['orders', 'show', 'api', external_id])).code === 0

/** The webhook secret the stack accepts. */
export const storedSecret = async () => {
  const { ssm } = local.stack()
  const [secret = ''] = Object.values(await parametersBelow(ssm, '/order-relay/local/webhook/secrets')())
  return secret
}

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
    expect(data).toEqual({ released: 0, checked: 0, dead: 0, received: 2, gone: 0, total: 2 })
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
    // The worker may finish before the receiver writes its log line.
    expect(out).toMatch(/delivery received outcome=queued /)
    expect(out).toMatch(/event processed .*external_id=w-1/)

    const again = await local.json(['send', '--external-id', 'w-1', '--delivery', data.delivery])
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
    await local.relay(['send', '--external-id', 'w-1', '--age', '301'])
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
    const secret = await storedSecret()
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
    expect(output).toMatch(/delivery received .*\n(.*\n)*Waiting for new lines. Press Ctrl-C to stop.\n$/)
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

export const auditTests = () => {
  const orderHere = async (external_id: string) =>
    (await local.json(['orders', 'show', 'api', external_id]).catch(() => undefined))?.data
  const isPaid = async (external_id: string) => (await orderHere(external_id))?.result?.status === 'paid'

  let since: string
  beforeAll(async () => {
    await local.empty('orders-dead.fifo', 'feeds-dead.fifo', 'quarantine')
    await until(async () => (await local.relay(['doctor'])).out.includes('no messages wait'))
    since = new Date().toISOString()
  })

  test('ignores warm-up invocations of the functions and probes of the commands', async () => {
    const { data } = await local.json(['audit', '--since', '1d', '--no-service'])
    expect(data.deliveries.outcomes).not.toHaveProperty(['refused: the signature header is malformed'])
  })

  test('the audit accounts for everything received and finds no difference from the service', async () => {
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: false })
    await local.create('r-1', {}, 'relay')
    expect((await local.store('POST', 'r-1/payment/', { method: 'card' })).status).toBe(202)
    await until(async () =>
      (await orderHere('r-1'))?.requests.some(({ state }: RequestView) => state === 'held'),
    )
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: true })
    await local.sandbox('POST', '/panel/orders/r-1/retry?source=api', {})
    await until(() => isPaid('r-1'))
    await local.relay(['send', '--external-id', 'x', '--source', 'nobody'])
    await local.relay(['send', '--external-id', 'x'], { environment: { RELAY_WEBHOOK_SECRET: 'wrong' } })
    // A probe's order, which is not in the service.
    const { dynamodb } = local.stack()
    const probed = { source: PROBE_SOURCE, external_id: randomUUID() }
    const result = { ...probed, status: 'paid' }
    await orderRepository(dynamodb, 'orders', { random: Math.random }).save(
      { order: { ...newOrder(probed), result, version: 1 }, outbox: undefined, bulk: undefined },
      0,
      Date.now(),
    )
    await deliveryRepository(dynamodb, 'deliveries').record(
      { ...probed, delivery: probed.external_id, status: 'paid' },
      Math.floor(Date.now() / 1000),
    )

    const { code, data } = await local.json(['audit', '--since', since])
    expect(data).toMatchObject({
      balanced: true,
      deliveries: {
        outcomes: { queued: 1, 'ignored: foreign source': 1, 'refused: not signed with a known secret': 1 },
      },
      queue: { entered: 3, applied: 3, unaccounted: 0 },
      requests: { accepted: 2, states: { registered: 2 } },
      stored: { 'create registered': 1, 'payment registered': 1 },
      orders: { known: 1, asked: 1, agree: 1 },
      left: { dead: 0, quarantined: 0 },
      undelivered: expect.arrayContaining([
        { source: 'api', waiting: expect.any(Number), inFlight: 0, dead: 0, deleted: 0 },
      ]),
      differences: [],
      lists: { orders: [{ name: 'known', count: 1, members: [{ source: 'api', external_id: 'r-1' }] }, {}] },
    })
    expect(code).toBe(0)
    const { out } = await local.relay(['audit', '--since', since])
    expect(out).not.toContain('only the orders are compared')
    expect(out).toContain('1 order changed; 1 of 1 agree with the service.')
    expect(out).toMatch(/Everything is accounted for\.\n$/)
  })

  test('reports an outage as the number of orders not compared and its beginning, and fails', async () => {
    await local.sandbox('POST', '/panel/faults', { kind: 'error', status: 503 })
    expect((await local.store('POST', 'r-1/refund/', {}, 'respond-async')).status).toBe(202)
    await until(async () => (await orderHere('r-1')).failing !== undefined)
    const { code, out } = await local.relay(['audit', '--since', since])
    await local.sandbox('DELETE', '/panel/faults')
    await local.relay(['orders', 'retry', '--all'])
    expect(out).toMatch(
      /\n1 order not compared with the service: 503 .*\nEvents wait for the service since \S+Z\.\n/,
    )
    expect(out).toMatch(/Everything else is accounted for\.\n$/)
    expect(code).toBe(1)
    await until(async () => (await orderHere('r-1')).result.status === 'refunded')
  })

  test('accounts for a delivery that the worker quarantined', async () => {
    const data = { source: 'api', external_id: 'odd', status: 'paid' }
    const delivery = randomUUID()
    // Long enough ago for the table's resolution of one second.
    const recorded = Math.floor(Date.now() / 1000) - 5
    await deliveryRepository(local.stack().dynamodb, 'deliveries').record({ delivery, ...data }, recorded)
    await local.quarantine('worker', JSON.stringify({ event: 'order.updated', delivery, data }))
    const from = new Date(recorded * 1000).toISOString()
    const { lists, differences } = (await local.json(['audit', '--since', from, '--no-service'])).data
    const members = [expect.objectContaining({ id: delivery })]
    expect(lists.queue).toContainEqual({ name: 'quarantined', count: 1, members })
    expect(differences).not.toContainEqual(expect.objectContaining({ id: delivery }))
    await local.empty('quarantine')
    const Key = { delivery: { S: delivery } }
    await local.stack().dynamodb.deleteItem({ TableName: 'deliveries', Key })
  })

  test('reports an order that differs from the service', async () => {
    await local.relay(['send', '--external-id', 'made-up'])
    await local.enqueue('orders-dead.fifo', 'order.check', { external_id: 'dead' })
    await until(() => isPaid('made-up'))
    const { code, out } = await local.relay(['audit', '--since', since])
    expect(out).toContain('1 difference:\n  api made-up: order is "paid" here and unknown to the service')
    expect(out).toContain('its store must send the create again. If the order is not wanted, erase it: relay')
    expect(out).toContain('Waiting for a decision: 1 dead letter, 0 in quarantine.')
    expect(code).toBe(1)
    const unasked = await local.json(['audit', '--since', since, '--no-service'])
    expect(unasked).toMatchObject({ code: 0, data: { balanced: true, orders: { asked: 0 } } })
    const longer = await local.relay(['audit', '--since', '31d', '--no-service'])
    expect(longer.out).toContain('are kept for 30 days: of what came in before, only the orders are compared')
    await local.create('made-up', {}, 'relay')
    expect((await local.relay(['audit', '--since', since])).out).not.toContain('api made-up')
  })

  test('an audit of 30 days that repairs deletes the periods without a registered webhook that it covers', async () => {
    const { ssm } = local.stack()
    const folder = '/order-relay/local/webhook-gaps'
    const [from = 0, to = 0] = [2, 1].map(days => Date.now() - days * 86_400_000)
    const Value = [from, to].map(time => new Date(time).toISOString()).join('/')
    await ssm.putParameter({ Name: `${folder}/${from}`, Value, Type: 'SecureString' })
    await local.relay(['audit', '--since', '30d', '--repair'])
    expect(await parametersBelow(ssm, folder)()).toEqual({})
  })
}

export const keyTests = () => {
  const NONE = ': no message "none" is among the visible dead letters'
  test.each([
    ['key set', 'sandbox-read-key', '403 The key lacks the scope orders.write'],
    ['key set', 'nonsense', '401 The key is not known'],
    ['key set', '', 'standard input is empty'],
    ['key set', 'two words', 'it contains whitespace or line breaks'],
    ['stores key nobody', '', 'Cannot find the store "nobody": stores.yml has "api", "demo-shop"'],
    ['orders show api none', '', 'the relay has no order "none" of "api"; see relay orders list --local'],
    ['stores resend api --order none', '', 'the relay has no order "none" of "api"'],
    ['deliveries show none', '', 'no delivery "none" was queued'],
    ...[
      'dead list --source nope',
      'dead replay --source nope',
      'dead replay --source nope --dry-run',
      'dead discard --source nope',
      'quarantine groups --source nope',
      'orders list --source nope',
      'orders retry nope',
      'feeds list --source nope',
      'deliveries list --source nope',
    ].map((command): [string, string, string] => [
      command,
      '',
      'Cannot find the store "nope": stores.yml has "api", "demo-shop"',
    ]),
    [
      'send --source nobody --external-id a&b --wait 1s',
      ...['', `the order is not "paid" after 1 s; see relay tail --since 10m --order 'a&b' --local`],
    ],
    ['send --file /none/body', '', 'Cannot read "/none/body": ENOENT'],
    ['dead show none', '', `Cannot show the message${NONE}`],
    ['dead replay none', '', `Cannot replay the message${NONE}`],
    ['dead discard none --yes none', '', `Cannot discard the message${NONE}`],
  ])('%s with the input "%s" fails with a reason', async (command, input, why) => {
    const { code, err } = await local.relay(command.split(' '), { input })
    expect(err).toContain(why)
    expect(code).toBe(1)
  })

  test('tail says that a store is unknown, since no line of it may ever appear', async () => {
    const { err } = await local.relay(['tail', '--no-follow', '--source', 'nope'])
    expect(err).toContain('stores.yml has no store "nope", but "api", "demo-shop"')
  })

  test('keeps the stored key when the service refuses the new one', async () => {
    expect((await local.relay(['doctor'])).out).toContain('ok  the accounting service accepts the API key')
  })

  test('stores a key unchecked while the service is down', async () => {
    const away = { environment: { SANDBOX_PORT: '1' } }
    const refused = await local.relay(['key', 'set'], { input: 'sandbox-key', ...away })
    expect(refused.err).toContain('store it unchecked with --no-check')
    expect(refused.code).toBe(1)
    const { data } = await local.json(['key', 'set', '--no-check'], { input: 'sandbox-key', ...away })
    expect(data).toMatchObject({ kept: 'accounting-key', checked: false })
  })

  test("shows a store's key once, the hour of its last use, and accepts it until it is revoked", async () => {
    const made = await local.json(['stores', 'key', 'demo-shop'])
    const { key, id, api } = made.data
    const read = () =>
      fetch(`${api}/api/v1/orders/none/?source=demo-shop`, { headers: { authorization: `Bearer ${key}` } })
    expect((await read()).status).toBe(404)
    const { keys } = (await local.json(['stores', 'show', 'demo-shop'])).data
    const { used } = keys.find((each: { id: string }) => each.id === id)
    expect(Date.parse(used)).toBeGreaterThan(Date.now() - 2 * 60 * 60 * 1000)

    const listed = await local.relay(['stores', 'list'])
    expect(listed.out).toContain(id)
    expect(listed.out).not.toContain(key)

    for (const other of keys) {
      if (other.id === id) continue
      await local.stack().dynamodb.deleteItem({ TableName: 'deliveries', Key: keyUseItem(other.id) })
    }
    const alone = await local.relay(['stores', 'key', 'demo-shop'])
    expect(alone).toMatchObject({
      out: expect.stringMatching(/^[\w-]{43}\n$/),
      err: expect.stringMatching(/^This key is shown only once; .* The store "demo-shop" sends it to\n/),
    })
    const unconfirmed = await local.relay(['stores', 'revoke', 'demo-shop', id], { input: 'another' })
    expect(unconfirmed.err).toContain(`it was not confirmed by its name; type it, or pass --yes "${id}"`)
    expect((await read()).status).toBe(404)
    const revoked = await local.json(['stores', 'revoke', 'demo-shop', id, '--yes', id])
    expect(revoked.data).toMatchObject({ revoked: id })
    const twice = await local.relay(['stores', 'revoke', 'demo-shop', id])
    expect(twice.err).toContain(`Cannot revoke the key "${id}": the store "demo-shop" has `)
    expect(twice.code).toBe(1)
  })

  test('the doctor names a key of a removed store, and the command that revokes it', async () => {
    await local.stack().ssm.putParameter(storeKeyParameter('/order-relay/local', 'removed', 'its key'))
    const { findings } = (await local.json(['doctor'])).data
    const found = findings.find(({ check }: { check: string }) => check === 'a key of "removed"')
    const [, command = ''] = /relay (stores revoke removed \S+) --local$/.exec(found.remedy) ?? []
    expect((await local.relay(command.split(' '))).out).toContain('The store "removed" has 0 keys left.')
  })

  test('a key has a name, a kind and an expiry, and is revoked by its name', async () => {
    const args = ['--name', 'صندوق', '--expires', '90d', '--create-only']
    const { data: made } = await local.json(['stores', 'key', 'demo-shop', ...args])
    const again = await local.relay(['stores', 'key', 'demo-shop', '--name', 'صندوق'])
    expect(again.err).toContain('Cannot create a key for "demo-shop": it has a key "صندوق"')
    const past = await local.relay(['stores', 'key', 'demo-shop', '--expires', '2026-01-01'])
    expect(past.err).toContain('its expiry, 2026-01-01T00:00:00.000Z, is in the past')
    const both = await local.relay(['stores', 'key', 'demo-shop', '--create-only', '--read-only'])
    expect(both.code).toBe(2)

    const shown = async () => (await local.json(['stores', 'show', 'demo-shop'])).data.keys
    const found = async () => (await shown()).find(({ id }: { id: string }) => id === made.id)
    const { expires, kind, name } = made
    expect(await found()).toMatchObject({ name, kind, expires, expired: false })
    expect([name, kind]).toEqual(['صندوق', 'create-only'])
    expect(Date.parse(expires)).toBeGreaterThan(Date.now() + 89 * 24 * 60 * 60 * 1000)
    expect((await found()).used).toBeUndefined()

    expect((await local.relay(['stores', 'show', 'demo-shop'])).out).toMatch(/صندوق +\S+ +create-only /)
    expect((await local.relay(['stores', 'list'])).out).toContain('صندوق')

    const revoked = await local.json(['stores', 'revoke', 'demo-shop', 'صندوق'])
    expect(revoked.data).toMatchObject({ revoked: made.id })
    expect(await found()).toBeUndefined()
  })

  test('remembers the URL passed to register until it is unregistered', async () => {
    const own = `${local.stack().urls.relay}/webhook`
    const url = own.replace('127.0.0.1', 'localhost')
    const registered = async (...args: string[]) =>
      (await local.json(['register', '--no-check', ...args])).data
    expect(await registered('--url', url)).toMatchObject({ url, registered: 'now' })
    expect(await registered()).toMatchObject({ url, registered: 'before' })
    expect((await local.json(['unregister', '--yes', url])).data).toMatchObject({
      url,
      removed: [expect.any(String)],
    })
    expect(await registered()).toMatchObject({ url: own, registered: 'before' })
    // The service still sends webhooks to the other URL.
    expect(await parametersBelow(local.stack().ssm, '/order-relay/local/webhook-gaps')()).toEqual({})
  })
}
