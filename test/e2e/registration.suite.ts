import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { fetchJson } from '../support/fetch-json.ts'
import { SELF } from '../support/project.ts'
import { local } from '../support/relay.ts'
import { startServer } from '../support/server.ts'
import { relayApi, storeOf } from '../support/steps.ts'
import { until } from '../support/until.ts'

type Message = { version: number; data: { external_id: string } }

/** An endpoint that checks signatures as the interface describes, with the secret of its last registration. */
const startEndpoint = async () => {
  const received: Message[] = []
  const state = { secret: '' }
  const server = await startServer(async ({ headers }, body) => {
    const [t, v1, ...more] = String(headers['x-service-signature']).split(',')
    const signed = createHmac('sha256', state.secret)
      .update(`${t?.slice('t='.length)}.${body}`)
      .digest('hex')
    if (more.length > 0 || v1 !== `v1=${signed}`) return { status: 401 }
    const message = JSON.parse(body.toString())
    if (message.event === 'order.updated') received.push(message)
    return { status: 200 }
  })
  const url = `http://127.0.0.1:${server.port}/hook`
  const registration = (method: string, key = `local-${SELF}`) =>
    fetchJson(`${local.stack().urls.relay}/api/v1/webhook/`, { method, body: { url }, key })
  return {
    url,
    received,
    close: server.close,
    register: async () => {
      const { status, body } = await registration('PUT')
      expect([status, body]).toEqual([200, { url, secret: expect.any(String) }])
      state.secret = body.secret
    },
    remove: async () => expect((await registration('DELETE')).status).toBe(204),
    registration,
  }
}

export const registrationTests = () => {
  let endpoints: Awaited<ReturnType<typeof startEndpoint>>[]
  beforeAll(async () => {
    endpoints = [await startEndpoint(), await startEndpoint()]
    await local.sandbox('PUT', '/panel/products/SKU-1', { stock: 1000 })
  })
  afterAll(async () => {
    for (const { close } of endpoints) await close()
  })

  test('receives messages at the URL that it registers, replaces and removes, and misses none', async () => {
    const [first, second] = endpoints
    if (first === undefined || second === undefined) throw new Error('no endpoints')
    const versions = ({ received }: typeof first, id: string) =>
      received.filter(({ data }) => data.external_id === id).map(({ version }) => version)
    const orderOf = (id: string) => storeOf(id, relayApi(`local-${SELF}`))
    const listed = async () => (await local.relay(['stores', 'list'])).out

    await orderOf('early').create({ source: SELF })
    expect(await listed()).toMatch(new RegExp(`${SELF} +http \\(not registered\\)`))
    const findings = await local.relay(['doctor'])
    expect(findings.out).toContain('the store has registered no webhook URL; 1 message not received yet')
    expect(await local.relay(['stores', 'test', SELF])).toMatchObject({
      code: 1,
      err: expect.stringContaining('the store has registered no webhook URL'),
    })

    await first.register()
    await until(() => versions(first, 'early').length === 1)
    expect(await listed()).toContain(`${first.url} (registered 20`)
    expect((await local.relay(['stores', 'test', SELF])).out).toContain(`Accepted (${first.url}, `)
    expect(await local.relay(['stores', 'secret', SELF])).toMatchObject({
      code: 1,
      err: expect.stringContaining('the store registers its own URL'),
    })

    await second.register()
    const order = orderOf('1')
    await order.create({ source: SELF })
    await until(() => versions(second, '1').length === 1)

    // Another URL than the registered one.
    await first.remove()
    await second.remove()
    await order.pay(undefined, `?source=${SELF}`)
    await order.refund(undefined, `?source=${SELF}`)
    const waiting = async () =>
      (await local.json(['stores', 'list'])).data.stores.find(
        ({ source }: { source: string }) => source === SELF,
      ).waiting
    await until(async () => (await waiting()) === 2)
    await first.register()
    await until(() => versions(first, '1').length === 2)
    expect([versions(first, '1'), versions(second, '1')]).toEqual([[2, 3], [1]])
  })

  test('gets an error with the remedy if an operator has configured its feed', async () => {
    const answer = await endpoints[0]?.registration('PUT', 'local-api')
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'feed_configured' } } })
  })
}
