import { writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import { orderRepository } from '../../lib/orders/repository.ts'
import { parametersBelow } from '../../lib/platform/parameters.ts'
import { useFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { local, type RunOptions, spawnRelay } from './relay.ts'

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

  test('a webhook is sent, traced by its delivery, and seen in the order', async () => {
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
    expect(order).toMatchObject({
      version: 1,
      result: { status: 'needs_review', error: 'insufficient stock' },
    })
    const { data: found } = await local.json(['orders', 'find', data.delivery])
    expect(found.orders).toMatchObject([{ source: 'api', external_id: 'w-1' }])

    const { out } = await local.relay(['tail', '--no-follow', '--since', '1m', '--delivery', data.delivery])
    expect(out).toMatch(/delivery received outcome=queued .*\n.*event processed .*external_id=w-1/)

    const again = await local.json(['send', '--external-id', 'w-1', '--delivery', data.delivery])
    expect(again.data.answer).toEqual({ status: 'duplicate' })

    const outcomes = async (...filter: string[]) => {
      const { data: listed } = await local.json(['deliveries', 'list', ...filter])
      const ours = listed.deliveries.filter(
        ({ delivery }: { delivery: string }) => delivery === data.delivery,
      )
      return ours.map(({ outcome }: { outcome: string }) => outcome)
    }
    expect(await outcomes()).toEqual(['duplicate', 'queued'])
    expect(await outcomes('--outcome', 'queued', '--source', 'api')).toEqual(['queued'])
    expect(await outcomes('--source', 'demo-shop')).toEqual([])
    await local.relay(['send', '--external-id', 'w-1', '--age', '301'])
    const { out: refused } = await local.relay(['deliveries', 'list', '--outcome', 'refused', '--limit', '1'])
    expect(refused).toMatch(/^RECEIVED .*\n\S+ +refused +forged, stale /)
  })

  test('imports: how many orders of each store wait, how fast they are processed, and when the last one is', async () => {
    const orders = orderRepository(local.stack().dynamodb, 'orders', { random: Math.random })
    const waiting = ['i-1', 'i-2', 'i-3', 'i-4'].map(external_id =>
      newOrder({ source: 'demo-shop', external_id }),
    )
    const save = (revision: number, bulk?: string) => (order: Order) =>
      orders.save({ ...order, bulk }, revision, Date.now() - 5000)
    expect((await local.json(['imports'])).data).toEqual({ events: 0, stores: [] })
    await Promise.all(waiting.map(save(0, 'its delivery')))
    const counting = local.json(['imports', '--for', '2s'])
    await until(async () => (await orders.due('bulk', Number.MAX_SAFE_INTEGER, 10)).length === 4)
    await sleep(1000)
    await Promise.all(waiting.slice(2).map(save(1)))
    const { data } = await counting
    expect(data.stores).toEqual([
      { source: 'demo-shop', orders: 2, perSecond: expect.any(Number), doneIn: 3 },
    ])
    await Promise.all(waiting.slice(0, 2).map(save(1)))
  })

  test('a file is sent byte for byte, and signed with a secret from the environment or standard input', async () => {
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

  test('tail follows the log until it is interrupted', async () => {
    const args = ['tail', '--local', '--order', 'live', '--json', '--since', '1m']
    const child = spawnRelay(args, local.stack().environment)
    const ended = new Promise(resolve => child.once('close', (_code, signal) => resolve(signal)))
    const seen: string[] = []
    createInterface({ input: child.stdout }).on('line', line => seen.push(JSON.parse(line).message))
    await local.relay(['send', '--external-id', 'live'])
    // The functions write side by side.
    await until(() => ['delivery received', 'event processed'].every(message => seen.includes(message)))
    child.kill('SIGINT')
    expect(await ended).toBe('SIGINT')
  })
}
