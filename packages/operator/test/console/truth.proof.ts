import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { messageGroupOf } from '@order-relay/lib/platform/fifo.ts'
import { feedQueueName, QUEUES } from '@order-relay/lib/platform/names.ts'
import { withBrowser } from '@order-relay/test-support/browser.ts'
import { fetchJson } from '@order-relay/test-support/fetch-json.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { projectWithPersianStore, SELF } from '@order-relay/test-support/project.ts'
import { local, useLocalStack } from '@order-relay/test-support/relay.ts'
import { startServer } from '@order-relay/test-support/server.ts'
import { until } from '@order-relay/test-support/until.ts'
import type { Page } from 'playwright-core'
import { useConsole } from './serve.ts'
import { type World, watchPages } from './truth.ts'

const folder = useFolder()
const project = () => folder('project')
useLocalStack({ project: () => projectWithPersianStore(project()) })
const { nextUrl, get } = useConsole(project)

/** How long the outage lasts, in milliseconds; at least as long as its comparisons. */
const OUTAGE_MS = Number(process.env.CONSOLE_MINUTES ?? 0) * 60_000

/** The response of the store's endpoint. */
let status = 200
const accepted = new Set<string>()
let endpoint: Awaited<ReturnType<typeof startServer>>
beforeAll(async () => {
  endpoint = await startServer(async (_request, body) => {
    if (status === 200) accepted.add(JSON.parse(body.toString()).delivery)
    return { status, headers: { 'retry-after': '3600' } }
  })
  await send('PUT', SELF, 'webhook/', { url: endpoint.url })
  await local.sandbox('PUT', '/panel/products/SKU-1', { stock: 1000 })
})
afterAll(() => endpoint.close())

/** Calls the stores' API as a store that does not wait for the result. */
const send = (method: string, source: string, path: string, body: object) =>
  fetchJson(`${local.stack().urls.relay}/api/v1/${path}`, {
    method,
    body,
    key: `local-${source}`,
    headers: { prefer: 'respond-async' },
  })

const world: World = {
  orders: [],
  source: SELF,
  accepted,
  service: { state: 'serving', since: Date.now() },
}

const create = async (source: string, external_id: string) => {
  const items = [{ sku: 'SKU-1', quantity: 0.01, unit_price: 1000 }]
  const answer = await send('POST', source, 'orders/', { source, external_id, items })
  world.orders.push({ source, external_id })
  return answer
}

const serviceIs = (state: World['service']['state'], since = Date.now()) => {
  world.service = { state, since }
}

const openAt = withBrowser()

const read = async (path: string, query: Record<string, string> = {}) =>
  JSON.parse((await get(`${path}?${new URLSearchParams(query)}`)).text)

const isActive = async (code: string) =>
  (await read('overview')).alarms.some(
    (alarm: { code: string; state: string }) => alarm.code === code && alarm.state === 'alarm',
  )

const statusOf = async (source: string, external_id: string) =>
  (await local.sandbox('GET', `/panel/orders/${external_id}?source=${source}`)).body.status

/** Maximum duration of an action started in the console. */
const END_MS = 120_000

/** The functions look for a new key this often, once the service refuses theirs. */
const NEW_KEY_MS = 15_000

/** More receives than an event has after an hour of an outage. After each failed retry, its next attempt is minutes away. */
const MANY_RECEIVES = 40

/** Comparisons while a fault lasts, and after its end. */
const COMPARED = 8

/** Plays a fault and ends it in the console, while every statement of the pages is compared with the facts. */
const scenario = (name: string, play: (page: Page, compared: () => Promise<unknown>) => Promise<unknown>) =>
  test(
    name,
    async () => {
      const watch = watchPages(read, world)
      try {
        const { page } = await openAt(`${nextUrl()}#/overview`)
        page.setDefaultTimeout(END_MS)
        const compared = () => watch.compared(COMPARED)
        await play(page, compared)
        await compared()
      } finally {
        await watch.stop()
      }
      expect(watch.sentences()).toEqual([])
    },
    3 * END_MS + OUTAGE_MS,
  )

/** Checks that the rows of a list are in the sequence that its caption states, by the times that they show. */
const expectSorted = async (page: Page, show: string) => {
  await page.evaluate(`location.hash = '#/orders?show=${show}'`)
  await until(async () => (await page.getByLabel('Orders to show').inputValue()) === show)
  const { caption, shown } = await page.evaluate<{ caption: string; shown: string[] }>(`({
    caption: document.querySelector('main caption').textContent,
    shown: [...document.querySelectorAll('main tbody td:last-child time')].map(time => time.dateTime),
  })`)
  expect(shown.length).toBeGreaterThan(1)
  expect(caption).toMatch(/(most recently changed|oldest failing event) first$/)
  const oldestFirst = shown.toSorted()
  const sorted = caption.includes('oldest') ? oldestFirst : oldestFirst.toReversed()
  expect({ caption, shown }).toEqual({ caption, shown: sorted })
}

const click = (page: Page, role: 'button' | 'link', name: string) =>
  page.getByRole(role, { name, exact: true }).first().click()
const openRunbook = (page: Page, hasText: string) =>
  page.locator('.verdict li', { hasText }).getByRole('link', { name: 'What to do' }).click()
const submit = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

scenario(
  'an outage with twenty orders: the overview says it, and retries all at a click',
  async (page, compared) => {
    await local.sandbox('POST', '/panel/faults', { kind: 'reset' })
    serviceIs('unavailable')
    const [first = '', ...others] = Array.from({ length: 20 }, (_, index) => `outage-${index}`)
    const ids = [first, ...others]
    expect((await create('api', first)).status).toBe(202)
    // Before an alarm begins, the overview says which one will.
    await page.locator('.verdict', { hasText: '1 order is failing' }).waitFor()
    await compared()
    for (const id of others) expect((await create('api', id)).status).toBe(202)
    await page.getByText('unavailable', { exact: true }).waitFor()
    await until(async () => (await read('overview')).failing.count === 20, END_MS)
    await Promise.all([compared(), sleep(OUTAGE_MS)])
    for (const show of ['failing', 'unsettled', '']) await expectSorted(page, show)
    await page.evaluate(`location.hash = '#/overview'`)
    // The dialog counts the orders when it opens, and the relay itself releases them once the service returns.
    await click(page, 'button', 'Retry now…')
    await page.getByRole('dialog').getByText('20 orders').first().waitFor({ state: 'attached' })
    await local.sandbox('DELETE', '/panel/faults')
    serviceIs('serving')
    await submit(page, 'Retry now')
    await page.getByText('unavailable', { exact: true }).waitFor({ state: 'detached' })
    await until(async () => {
      const statuses = await Promise.all(ids.map(id => statusOf('api', id)))
      return statuses.every(each => each === 'invoiced')
    }, END_MS)
    await page.locator('.verdict', { hasText: 'No alarm is active.' }).waitFor()
  },
)

scenario(
  'an outage in which an order is retried many times: it is tried within a minute of the end, without a click',
  async (_page, compared) => {
    await local.sandbox('POST', '/panel/faults', { kind: 'reset' })
    serviceIs('unavailable')
    const order = { source: 'api', external_id: 'impatient' }
    await create(order.source, order.external_id)
    const receives = async (): Promise<number> => (await read('order', order)).failing?.receives ?? 0
    while ((await receives()) < MANY_RECEIVES)
      await local.relay(['orders', 'retry', order.source, order.external_id])
    await compared()
    await local.sandbox('DELETE', '/panel/faults')
    serviceIs('serving')
    await until(async () => (await statusOf(order.source, order.external_id)) === 'invoiced', END_MS)
  },
)

scenario('a slow service: orders wait, and nothing says that it is unavailable', async (page, compared) => {
  const created = async (ids: readonly string[]) => {
    for (const id of ids) expect((await create('api', id)).status).toBe(202)
    await until(async () => {
      const statuses = await Promise.all(ids.map(id => statusOf('api', id)))
      return statuses.every(each => each === 'invoiced')
    }, END_MS)
  }
  // It answers before the relay stops waiting.
  await local.sandbox('POST', '/panel/faults', { kind: 'slow', delay: 3000 })
  await Promise.all([created(['slow-1', 'slow-2', 'slow-3']), compared()])
  expect(await page.getByText('unavailable', { exact: true }).count()).toBe(0)
  await local.sandbox('DELETE', '/panel/faults')
  // It answers too late: the order is created, but its response is lost.
  await local.sandbox('POST', '/panel/faults', { kind: 'slow', delay: 15_000 })
  serviceIs('unavailable')
  await create('api', 'too-slow')
  await until(async () => (await read('overview')).failing?.count > 0, END_MS)
  await compared()
  await local.sandbox('DELETE', '/panel/faults')
  serviceIs('serving')
  const late = { source: 'api', external_id: 'too-slow' }
  await until(async () => (await read('order', late)).why.links.length === 0, END_MS)
  expect((await read('order', late)).status).toBe('invoiced')
})

scenario(
  'a store that refuses its messages: its page retries them once it accepts',
  async (page, compared) => {
    status = 503
    const ids = ['refused-1', 'refused-2', 'refused-3']
    for (const id of ids) await create(SELF, id)
    const states = async () => {
      const feeds = await Promise.all(
        ids.map(external_id => read('feed', { source: SELF, external_id }).catch(() => ({ messages: [] }))),
      )
      return new Set(feeds.map(({ messages = [] }) => messages.at(-1)?.state))
    }
    await until(async () => [...(await states())].join() === 'failing', END_MS)
    await compared()
    status = 200
    await page.evaluate(`location.hash = '#/stores/${SELF}'`)
    await click(page, 'button', 'Retry all now')
    await page.getByText('Orders whose first waiting message was retried: 3. Accepted: 3').waitFor()
    await until(async () => [...(await states())].join() === 'accepted', END_MS)
  },
)

/** Makes dead letters of events that failed this often; returns the previous number. */
const redriveAfter = async (maxReceiveCount: number, queue: string = QUEUES.orders): Promise<number> => {
  const QueueUrl = local.queue(queue)
  const { sqs } = local.stack()
  const { Attributes } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: ['RedrivePolicy'] })
  const policy = JSON.parse(Attributes?.RedrivePolicy ?? '')
  const RedrivePolicy = JSON.stringify({ ...policy, maxReceiveCount })
  await sqs.setQueueAttributes({ QueueUrl, Attributes: { RedrivePolicy } })
  return policy.maxReceiveCount
}

scenario('a poison message: it is a dead letter, which is replayed', async (page, compared) => {
  const receives = await redriveAfter(2)
  await create('api', 'poison')
  await until(async () => (await statusOf('api', 'poison')) === 'invoiced')
  const fault = { kind: 'error', status: 500, operation: 'registerPayment' }
  await local.sandbox('POST', '/panel/faults', fault)
  await send('POST', 'api', 'orders/poison/payment/', { method: 'card', reference: 'r' })
  await page.locator('.verdict', { hasText: 'Dead letters' }).waitFor()
  await page.evaluate(`location.hash = '#/orders/api/poison'`)
  await page.getByText('its event is a dead letter').first().waitFor()
  const { out } = await local.relay(['status'])
  expect(out).toMatch(/^!! relay-dead-letters \(critical, since \d{4}-\d\d-\d\dT\d\d:\d\dZ\)/m)
  await compared()
  await redriveAfter(receives)
  await local.sandbox('DELETE', '/panel/faults')
  await click(page, 'button', 'Replay the dead letter…')
  await click(page, 'button', 'Replay')
  await submit(page, 'Replay')
  await until(async () => (await statusOf('api', 'poison')) === 'paid', END_MS)
  await page.getByText('Nothing here.').waitFor()
})

scenario(
  'a dead letter of an outage that has ended: it does not fail, and is forgotten once it is deleted',
  async (page, compared) => {
    await local.sandbox('POST', '/panel/faults', { kind: 'reset' })
    serviceIs('unavailable')
    const receives = await redriveAfter(2)
    await create('api', 'given-up')
    await page.locator('.verdict', { hasText: 'Dead letters' }).waitFor()
    await redriveAfter(receives)
    await local.sandbox('DELETE', '/panel/faults')
    serviceIs('serving')
    await page.getByText('1 order has dead letters').waitFor()
    await compared()
    await page.evaluate(`location.hash = '#/orders/api/given-up'`)
    await click(page, 'button', 'Delete the dead letter…')
    await page.getByText('usually with a check right after the deletion').waitFor()
    await click(page, 'button', 'Delete')
    await page.getByRole('dialog').getByLabel('Number of messages').fill('1')
    await submit(page, 'Delete')
    await until(async () => (await statusOf('api', 'given-up')) === 'invoiced')
  },
)

scenario(
  'the replay of a dead letter fails while another event of its order fails, which is still shown',
  async (_page, compared) => {
    const order = { source: 'api', external_id: 'replayed' }
    await create(order.source, order.external_id)
    await send('POST', 'api', 'orders/replayed/payment/', { method: 'card', reference: 'r' })
    await until(async () => (await statusOf('api', 'replayed')) === 'paid', END_MS)
    await until(async () => (await read('order', order)).why.links.length === 0, END_MS)
    await local.sandbox('POST', '/panel/faults', { kind: 'reset' })
    serviceIs('unavailable')
    await send('POST', 'api', 'orders/replayed/refund/', {})
    const receives = async (): Promise<number> => (await read('order', order)).failing?.receives ?? 0
    // From the fourth attempt on, the next one is far enough away for the comparisons.
    await until(async () => (await receives()) > 3, END_MS)
    const check = { event: 'order.check', delivery: randomUUID(), data: order }
    await local.stack().sqs.sendMessage({
      QueueUrl: local.queue(QUEUES.ordersDead),
      MessageBody: JSON.stringify(check),
      MessageGroupId: messageGroupOf(order),
      MessageDeduplicationId: check.delivery,
    })
    const { out } = await local.relay(['dead', 'replay', '--order', 'replayed'])
    expect(out).toContain('it failed again')
    await compared()
    await local.sandbox('DELETE', '/panel/faults')
    serviceIs('serving')
    await until(async () => (await statusOf('api', 'replayed')) === 'refunded', END_MS)
    await local.relay(['dead', 'replay', '--order', 'replayed'])
  },
)

scenario(
  'the dead letter of a feed is deleted: its store does not receive it until the order is resent',
  async (page, compared) => {
    const order = { source: SELF, external_id: 'unheard' }
    const isLast = (state: string) => async () => {
      const { messages = [] } = await read('feed', order).catch(() => ({}))
      return messages[0]?.state === state
    }
    status = 401
    await create(SELF, 'unheard')
    await until(isLast('failing'), END_MS)
    const queue = feedQueueName(SELF)
    const receives = await redriveAfter(1, queue)
    await local.relay(['feeds', 'retry', SELF, 'unheard'])
    await until(isLast('dead'), END_MS)
    await page.evaluate(`location.hash = '#/orders/${SELF}/unheard'`)
    await page.getByText('Message to the store: waits for an operator').waitFor()
    await page.getByRole('button', { name: 'Replay the dead letter…' }).waitFor()
    await compared()
    await redriveAfter(receives, queue)
    await page.evaluate(`location.hash = '#/dead'`)
    await click(page, 'button', 'Plan a deletion')
    await page.getByText('The store does not receive this message.').waitFor()
    await click(page, 'button', 'Delete')
    await page.getByRole('dialog').getByLabel('Number of messages').fill('1')
    await submit(page, 'Delete')
    // Afterwards, the page returns to the list.
    await page.waitForURL(/#\/dead$/)
    await until(isLast('deleted'), END_MS)
    await page.evaluate(`location.hash = '#/orders/${SELF}/unheard'`)
    await page.getByText('deleted by an operator, not received').waitFor()
    expect(await page.getByRole('button', { name: 'Retry the message to the store' }).count()).toBe(0)
    await compared()
    status = 200
    await click(page, 'button', 'Resend to the store')
    await until(isLast('accepted'), END_MS)
  },
)

scenario(
  'a wrong key of the service: its alarm sets the right one, and then says that the key was replaced',
  async (page, compared) => {
    await local.relay(['key', 'set', '--no-check'], { input: 'revoked' })
    let created = 0
    // The functions keep the previous key for up to a minute. One order a second: the comparison reads the latest 200.
    await until(async () => {
      await create('api', `unauthorized-${created++}`)
      await sleep(1000)
      return (await read('overview')).failing.count > 1
    }, END_MS)
    serviceIs('unauthorized')
    await until(() => isActive('service-unauthorized'), END_MS)
    const alarm = page.locator('.verdict li', { hasText: 'API key refused' })
    await alarm.waitFor()
    expect(await alarm.innerText()).toContain('The accounting service rejects the API key')
    await compared()
    await alarm.getByRole('button', { name: 'Set the API key…', exact: true }).click()
    await page.getByRole('dialog').getByLabel('API key').fill('sandbox-key')
    await submit(page, 'Store the key')
    // The functions cannot find the key before the console has checked it with the service and stored it.
    await page
      .getByText(
        'Stored; it is used within 15 seconds if the service refuses the current key, otherwise within a minute.',
      )
      .waitFor()
    serviceIs('serving', Date.now() + NEW_KEY_MS)
    await alarm.filter({ hasText: 'The accounting service rejected the API key' }).waitFor({ timeout: 5000 })
    expect(await alarm.getByRole('button').count()).toBe(0)
    await until(async () => {
      const { failing } = await read('overview')
      return failing.count === 0 && !(await isActive('service-unauthorized'))
    }, 2 * END_MS)
  },
)

scenario(
  'a secret that the relay does not know: the runbook of its alarm registers the webhook again',
  async (page, compared) => {
    const { url } = await read('service')
    // The service signs with the secret of the last registration.
    await fetchJson(`${local.stack().urls.sandbox}/api/v1/webhook/`, {
      method: 'PUT',
      body: { url },
      key: 'sandbox-key',
    })
    await local.create('missed')
    await local.sandbox('POST', '/panel/orders/missed/pay?source=api', { method: 'card', reference: 'r' })
    await until(() => isActive('signature-failures'), END_MS)
    await compared()
    await openRunbook(page, 'not signed with a known secret')
    await click(page, 'button', 'Register again…')
    await submit(page, 'Register')
    const missed = { source: 'api', external_id: 'missed' }
    await until(async () => (await read('order', missed)).status === 'paid', END_MS)
    world.orders.push(missed)
  },
)
