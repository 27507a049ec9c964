import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { logFile } from '@order-relay/local/log.ts'
import { OpenAPIClientAxios } from 'openapi-client-axios'
import { sign } from '../../lib/protocol/signature.ts'
import { fetchJson } from '../support/fetch-json.ts'
import { PERSIAN } from '../support/project.ts'
import { local } from '../support/relay.ts'
import { feedOf, item, relayApi, storeOf } from '../support/steps.ts'
import { until } from '../support/until.ts'
import { interfaceTests } from './interface.suite.ts'

const post = async (content: object) => {
  const body = JSON.stringify(content)
  const signature = sign({ secret: await local.webhookSecret(), t: Math.floor(Date.now() / 1000), body })
  const headers = { 'content-type': 'application/json; charset=utf-8', 'x-service-signature': signature }
  return (await fetchJson(`${local.stack().urls.relay}/webhook`, { method: 'POST', headers, body })).body
}

export const persianTests = () => {
  test('relays orders of stores with Persian names, and logs no personal data or secret', async () => {
    const { data } = await local.json(['stores', 'key', PERSIAN])
    const store = storeOf('۱', relayApi(data.key))
    const [lost, NAME] = ['گمشده', 'Neda Rahimi']
    const customer = { mobile: '+989127654321', name: NAME, email: 'neda@example.com' }
    await store.create({ source: PERSIAN, items: [item({ name: lost })], customer })
    // The service refuses it, in words that reach only the store.
    const unknown = { external_id: '۲', items: [item({ sku: lost, name: lost })] }
    await store.create({ source: PERSIAN, customer, ...unknown })
    await store.pay({ method: 'card', reference: lost }, `?source=${encodeURIComponent(PERSIAN)}`)
    expect(await feedOf(PERSIAN).received(3)).toContainEqual(
      expect.objectContaining({ source: PERSIAN, status: 'paid' }),
    )

    const refunded = { source: PERSIAN, external_id: '۱', status: 'refunded' }
    const webhook = { event: 'order.updated', delivery: randomUUID(), data: refunded }
    expect(await post(webhook)).toEqual({ status: 'queued' })
    await post({ event: 'order.updated', delivery: 'no uuid', data: { source: PERSIAN, customer } })

    const log = () => readFile(logFile(local.stack().dataDir), 'utf8')
    await until(async () => (await log()).includes('unreadable') && (await log()).includes('order.payment'))
    const written = await log()
    expect(written).toContain(PERSIAN)
    const personal = [NAME, '09127654321', '9127654321', 'neda@example.com', lost]
    for (const word of [...personal, await local.webhookSecret(), 'sandbox-key', data.key])
      expect(written).not.toContain(word)
  })
}

export const relayTests = () => {
  beforeAll(async () => {
    await local.sandbox('PUT', '/panel/products/SKU-1', { stock: 1000 })
    await local.sandbox('PUT', '/panel/products/SKU-3', { stock: 0 })
    await feedOf('demo-shop').receive()
  })

  describe('the relay responds like the service to', interfaceTests)

  test('withdraws a waiting request immediately, but not a held or registered one', async () => {
    const order = () => storeOf(randomUUID(), relayApi('local-api'))
    const [inReview, refused] = [order(), order()]
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: false })
    await inReview.create()
    await inReview.pay({ method: 'card' })
    await inReview.refund('')
    const refusedWith = (code: string) => ({ status: 409, body: { error: { code } } })
    const registered = { status: 200, body: { state: 'registered' } }
    expect(await inReview.withdraw('payment/')).toMatchObject(refusedWith('held'))
    expect(await inReview.withdraw('refund/')).toMatchObject(registered)
    expect(await inReview.withdraw('refund/')).toMatchObject({ status: 200, body: { state: 'duplicate' } })

    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: true })
    await refused.create({ items: [item({ sku: 'unknown' })] })
    expect(await refused.withdraw('')).toMatchObject(registered)
    expect((await refused.read()).body.relay).toMatchObject({
      requests: [
        { kind: 'create', state: 'withdrawn' },
        { kind: 'withdrawal', state: 'registered' },
      ],
    })
  })

  test("a client generated from the service's OpenAPI document only needs another base URL", async () => {
    const definition = JSON.parse(await readFile('docs/openapi.json', 'utf8'))
    const clientOf = (url: string, key: string) =>
      new OpenAPIClientAxios({
        definition,
        withServer: { url },
        axiosConfigDefaults: { headers: { authorization: `Bearer ${key}` }, validateStatus: () => true },
      }).init()
    const { urls } = local.stack()
    const path = { external_id: randomUUID() }
    const order = { ...path, items: [item()] }
    const client = await clientOf(urls.relay, 'local-api')
    const replies = [
      await client.readOrder?.(path),
      await client.createOrder?.({}, order),
      await client.createOrder?.({}, order),
      await client.registerPayment?.(path, { method: 'card', reference: '1' }),
      await client.registerRefund?.(path, { reason: 'x' }),
      await client.readOrder?.(path),
    ]
    expect(replies.map(reply => reply?.status)).toEqual([404, 201, 200, 200, 200, 200])
    const states = replies.map(reply => reply?.data.status ?? reply?.data.error.code)
    expect(states).toEqual(['not_found', 'invoiced', 'invoiced', 'paid', 'refunded', 'refunded'])
    const direct = await clientOf(urls.sandbox, 'sandbox-key')
    const { relay: _, ...read } = replies.at(-1)?.data ?? {}
    expect(read).toEqual((await direct.readOrder?.(path))?.data)
  })
}
