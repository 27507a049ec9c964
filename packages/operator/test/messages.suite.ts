import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { orderRepository } from '@order-relay/lib/orders/repository.ts'
import { feedQueueName } from '@order-relay/lib/platform/names.ts'
import { logFile } from '@order-relay/local/log.ts'
import { fetchJson } from '@order-relay/test-support/fetch-json.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { drain } from '@order-relay/test-support/parts.ts'
import { local, startRelay } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'

const payment = { body: JSON.stringify({ method: 'card', reference: 'r-1' }), accepted_at: Date.now() }

const dead = (event: string, external_id: string, more: object = {}) =>
  local.enqueue('orders-dead.fifo', `order.${event}`, {
    external_id,
    body: '{}',
    accepted_at: Date.now(),
    ...more,
  })

/** The command's output with `--json`. */
const data = async (...args: string[]) => (await local.json(args)).data

export const messageTests = () => {
  const folder = useFolder()
  afterAll(() => local.empty('orders-dead.fifo', 'feeds-dead.fifo', 'quarantine'))

  describe('dead letters', () => {
    beforeEach(() => local.empty('orders-dead.fifo', 'feeds-dead.fifo'))

    test('filters by store, order, event and time, and listing removes no message', async () => {
      expect((await local.relay(['dead', 'list'])).out).toBe('No dead letters in the local stack.\n')
      await dead('payment', 'a', payment)
      await dead('updated', 'b', { status: 'paid' })
      await dead('updated', 'c', { status: 'paid', source: 'demo-shop' })
      const listed = async (...filter: string[]) => {
        const { letters } = await data('dead', 'list', ...filter)
        return letters.map(({ external_id }: { external_id: string }) => external_id)
      }
      expect(await listed('--source', 'demo-shop', '--since', '1h')).toEqual(['c'])
      expect(await listed('--event', 'order.updated', '--order', 'b')).toEqual(['b'])
      expect(await listed('--since', '2099-01-01')).toEqual([])
      expect(await listed('--limit', '2')).toHaveLength(2)
      expect((await data('dead', 'list')).total).toBe(3)
      const found = /!! {4}dead letters: 3 messages\n {6}→ see relay dead list --local/
      expect((await local.relay(['doctor'])).out).toMatch(found)
    })

    test('are grouped by the error stored with the order, or by store and event', async () => {
      const orders = orderRepository(local.stack().dynamodb, 'orders', { random: Math.random })
      const at = new Date().toISOString()
      for (const [index, status] of [503, 503, 500].entries()) {
        const external_id = `g-${index + 1}`
        await orders.fail(
          { source: 'api', external_id },
          {
            event: 'order.payment',
            delivery: await dead('payment', external_id),
            queue: 'orders',
            receives: 200,
            since: at,
            at,
            next_at: at,
            code: 'unavailable',
            behind: 0,
            message: `The accounting service answered ${status} to "${external_id}" after 10 s`,
          },
        )
      }
      await dead('payment', 'g-4')
      const { groups } = await data('dead', 'groups')
      expect(groups.map(({ count, failure }: Record<string, unknown>) => [count, failure])).toEqual([
        [2, 'order queue: The accounting service answered 503 to "…" after … s'],
        [1, 'order queue: The accounting service answered 500 to "…" after … s'],
        [1, 'order queue: order.payment of api'],
      ])
      const { letters } = await data('dead', 'list', '--group', groups[0].group)
      expect(letters).toMatchObject([{ external_id: 'g-1' }, { external_id: 'g-2' }])
    })

    test('shows a message by its id or delivery, and discards it after typed confirmation', async () => {
      const delivery = await dead('payment', 'shown', payment)
      const { id, ...shown } = await data('dead', 'show', delivery)
      expect(shown).toMatchObject({ event: 'order.payment', external_id: 'shown', delivery })
      expect(JSON.parse(shown.body).data.body).toBe(payment.body)
      expect((await data('dead', 'show', id)).id).toBe(id)
      const refused = await local.relay(['dead', 'discard', delivery], { input: 'yes' })
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`pass --yes "${delivery}"`) })
      const { letters, discarded } = await data('dead', 'discard', delivery, '--yes', delivery)
      expect(letters).toMatchObject([{ delivery, body: expect.stringContaining(delivery) }])
      expect(discarded).toEqual([id])

      await dead('payment', 'two')
      await local.enqueue('feeds-dead.fifo', 'order.payment', { external_id: 'three' })
      const filter = ['dead', 'discard', '--event', 'order.payment', '--reason', 'paid in cash']
      expect((await local.relay([...filter, '--yes', 'event=order.payment 1'])).code).toBe(1)
      expect((await data('dead', 'list')).total).toBe(2)
      const name = 'event=order.payment 2'
      expect((await local.relay(filter, { input: `${name}\n` })).out).toBe('Discarded 2 messages.\n')
      expect((await data('dead', 'list')).total).toBe(0)
      const [last, before] = (await data('dead', 'history')).operations
      const by = userInfo().username
      expect(last).toMatchObject({ by, name, reason: 'paid in cash', counts: { discarded: 2 } })
      expect(before).toMatchObject({ action: 'discard', name: delivery, messages: [id] })
    })

    test('a replayed message of an exact store keeps its version and cause', async () => {
      const { sqs } = local.stack()
      const MessageAttributes = {
        version: { DataType: 'String', StringValue: '3' },
        cause: { DataType: 'String', StringValue: 'order.create c' },
      }
      const body = { event: 'order.updated', data: { source: 'api', external_id: 'exact' }, delivery: 'd' }
      const MessageBody = JSON.stringify(body)
      const queue = { QueueUrl: local.queue('feeds-dead.fifo'), MessageGroupId: 'exact' }
      await sqs.sendMessage({ ...queue, MessageDeduplicationId: 'exact', MessageBody, MessageAttributes })
      expect(await data('dead', 'show', 'd')).toMatchObject({ version: '3', cause: 'order.create c' })
      const feed = local.queue(feedQueueName('api'))
      await drain(sqs, feed)
      expect((await local.relay(['dead', 'replay', 'd'])).out).toBe('Replayed 1 message.\n')
      expect(await drain(sqs, feed)).toMatchObject([{ Body: MessageBody, MessageAttributes }])
    })

    test('a replay makes the calls of each order in sequence', async () => {
      await local.create('both')
      await dead('payment', 'both', payment)
      let last = ''
      for (let count = 1; count <= 10; count++) last = await dead('refund', 'both')
      // Behind ten other messages of its order, it is invisible.
      expect((await local.relay(['dead', 'replay', last])).err).toContain(`no message "${last}" is among`)
      expect((await local.relay(['dead', 'list'])).out).toContain('1 more message not shown')
      const { code, data: replayed } = await local.json(['dead', 'replay', '--order', 'both'])
      const all = Array(11).fill(expect.any(String))
      expect([code, replayed]).toMatchObject([0, { replayed: all, behind: [], missing: [] }])
      const refunded = { status: 'refunded', receipt_number: expect.any(Number) }
      expect(await local.order('both')).toMatchObject(refunded)
      expect((await data('dead', 'list')).total).toBe(0)
    })

    test('after a failed replay, a dead letter shows the cause of the failure', async () => {
      await dead('payment', 'fails-again', payment)
      expect((await data('dead', 'list')).letters[0].error).toBeUndefined()
      const faults = `${local.stack().urls.sandbox}/panel/faults`
      const error = { kind: 'error', status: 503 }
      await fetchJson(faults, { method: 'POST', key: 'sandbox-key', body: error })
      const { code, out } = await local.relay(['dead', 'replay', '--all'])
      await fetchJson(faults, { method: 'DELETE', key: 'sandbox-key' })
      const cause = 'The accounting service answered 503'
      expect([code, out]).toEqual([1, expect.stringContaining(`kept: it failed again: ${cause}\n`)])
      expect((await data('dead', 'list')).letters).toMatchObject([{ error: cause }])
      const { out: shown } = await local.relay(['dead', 'discard', '--all', '--dry-run'])
      expect(shown).toContain(`\n  cause: ${cause}\n`)
    })

    test('a replayed message that the worker cannot read is moved to the quarantine, and is not done', async () => {
      await local.empty('quarantine')
      await dead('unheard of', 'odd')
      const { code, out } = await local.relay(['dead', 'replay', '--all'])
      expect([code, out]).toEqual([
        1,
        expect.stringMatching(/^Replayed 0 messages\.\n\S+ {2}moved to the quarantine: still unreadable\n$/),
      ])
      expect((await data('dead', 'list')).total).toBe(0)
      expect((await data('quarantine', 'list')).total).toBe(1)
      await local.empty('quarantine')
    })

    test('a plan replays only its own messages, and repeats nothing after an interruption', async () => {
      const ids = ['p-1', 'p-2', 'p-3', 'p-4']
      for (const id of ids) await local.create(id)
      for (const id of ids) await dead('payment', id, payment)
      const plan = folder('plan.json')
      const planned = await local.relay(['dead', 'replay', '--event', 'order.payment', '--plan', plan])
      expect(planned.out).toContain(`to carry it out: relay dead replay --from ${plan} --local\n`)
      await dead('payment', 'later', payment)

      const processed = () => {
        const log = readFileSync(logFile(local.stack().dataDir), 'utf8')
        return log.match(/^(?=.*event processed).*"external_id":"(p-\d|later)"/gm)?.length ?? 0
      }
      const slowly = ['--rate', '1', '--reason', 'service is back', '--local']
      const args = ['dead', 'replay', '--from', plan, ...slowly]
      const { child, ended } = startRelay(args, local.stack().environment)
      await until(async () => processed() > 0)
      child.kill('SIGINT')
      const stopped = /^Replayed [123] messages?\.\nStopped: Cannot finish: interrupted\./
      expect(await ended).toMatchObject({ code: 1, out: expect.stringMatching(stopped) })

      const resumed = await local.relay(['dead', 'replay', '--from', plan])
      expect(resumed).toMatchObject({ code: 0, out: expect.stringContaining('Gone since the plan was made') })
      for (const id of ids) expect((await local.order(id)).status).toBe('paid')
      expect(processed()).toBe(ids.length)
      expect((await data('dead', 'list')).letters).toMatchObject([{ external_id: 'later' }])
      const [second, first] = (await data('dead', 'history')).operations
      expect(first).toMatchObject({ name: 'event=order.payment 4', reason: 'service is back' })
      expect(first.stopped).toContain('interrupted')
      expect(second.plan).toBe(first.plan)
      expect([...first.messages, ...second.messages]).toHaveLength(ids.length)

      const other = await local.relay(['dead', 'discard', '--from', plan])
      expect(other.err).toContain('it is for relay dead replay')
      await writeFile(plan, readFileSync(plan, 'utf8').replace('the local stack', 'stage test'))
      expect((await local.relay(['dead', 'replay', '--from', plan])).err).toContain('of stage test')
    })
  })

  describe('quarantine', () => {
    beforeEach(() => local.empty('quarantine'))
    const delivery = randomUUID()
    const webhook = (external_id: string, source = 'api') =>
      JSON.stringify({ event: 'order.updated', delivery, data: { source, external_id, status: 'paid' } })

    test('queues and records a message once when it has become readable', async () => {
      const { out } = await local.relay(['quarantine', 'list'])
      expect(out).toBe('Nothing in quarantine in the local stack.\n')
      await local.create('read-later')
      const body = webhook('read-later')
      await local.quarantine('webhook', body)
      await local.quarantine('webhook', body)
      const predicted = await data('quarantine', 'replay', '--all', '--dry-run')
      expect(predicted).toMatchObject({ action: 'replay', calls: { payment: 0, refund: 0 } })
      const { code, data: replayed } = await local.json(['quarantine', 'replay', '--all'])
      expect([code, replayed.entries]).toMatchObject([0, [{ outcome: 'replayed' }, { outcome: 'duplicate' }]])
      await until(async () => (await local.relay(['orders', 'show', 'api', 'read-later'])).code === 0)
      expect(await data('deliveries', 'show', delivery)).toMatchObject({ external_id: 'read-later' })
    })

    test('reads the order of a replayed webhook, which may be outdated, before its store is notified', async () => {
      const external_id = 'outdated'
      await local.create(external_id, { payment: { method: 'cash' } }, 'relay')
      const old = { source: 'api', external_id, status: 'refunded' }
      const event = { event: 'order.updated', delivery: randomUUID(), data: old }
      await local.quarantine('webhook', JSON.stringify(event))
      const plan = await data('quarantine', 'replay', '--all', '--dry-run')
      const [{ predicted }] = plan.messages
      expect(predicted).toMatchObject({ calls: [{ to: 'read', outcome: '"paid"' }], publishes: [] })
      expect((await local.relay(['quarantine', 'replay', '--all'])).code).toBe(0)
      const history = async () => (await data('orders', 'show', 'api', external_id)).history.entries
      const { delivery: id } = event
      const processed = new RegExp(`^(?=.*event processed).*${id}`, 'm')
      await until(async () => processed.test(readFileSync(logFile(local.stack().dataDir), 'utf8')))
      expect(await history()).toMatchObject([{ status: 'paid' }])
      expect(await data('deliveries', 'show', id)).toMatchObject({ external_id })
    })

    test('queues an event of the order queue when it has become readable', async () => {
      await local.create('line')
      const event = { event: 'order.payment', delivery: randomUUID() }
      const order = { source: 'api', external_id: 'line', ...payment }
      await local.quarantine('worker', JSON.stringify({ ...event, data: order }))
      expect((await local.relay(['quarantine', 'replay', '--order', 'line'])).code).toBe(0)
      await until(async () => (await local.order('line')).status === 'paid')
    })

    test('keeps a message that is still unreadable or belongs to an unknown store', async () => {
      const nested = `${'['.repeat(65)}${']'.repeat(65)}`
      const body = webhook('deep').replace('"paid"', `"paid","extra":${nested}`)
      await local.quarantine('worker', body)
      await local.quarantine('webhook', body)
      await local.quarantine('webhook', webhook('foreign', 'someone-else'))
      const { entries } = await data('quarantine', 'list')
      expect(entries).toMatchObject([{ readable: false }, { readable: false }, { readable: true }])
      const { groups } = await data('quarantine', 'groups')
      expect(groups[0]).toMatchObject({ count: 2, failure: 'webhook: an older version could not read it' })
      const { code, out } = await local.relay(['quarantine', 'replay', '--all'])
      expect(out).toMatch(/^Replayed 0 messages.(\n.*kept: still unreadable){2}\n.*kept: belongs to no store/)
      expect(code).toBe(1)
      expect((await data('quarantine', 'list')).total).toBe(3)
    })
  })
}
