import { appendFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { messageGroupOf } from '@order-relay/lib/platform/fifo.ts'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import { sourceHash } from '@order-relay/lib/webhook/receive.ts'
import { logFile } from '@order-relay/local/log.ts'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { withBrowser } from '@order-relay/test-support/browser.ts'
import { fetchJson } from '@order-relay/test-support/fetch-json.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { change, projectWithPersianStore, SELF } from '@order-relay/test-support/project.ts'
import { local, useLocalStack } from '@order-relay/test-support/relay.ts'
import { startServer } from '@order-relay/test-support/server.ts'
import { relayApi, storeOf } from '@order-relay/test-support/steps.ts'
import { until } from '@order-relay/test-support/until.ts'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { useConsole } from './serve.ts'

const folder = useFolder()
const project = () => folder('project')
useLocalStack({ project: () => projectWithPersianStore(project()) })

/** The response of the store's endpoint. */
let status = 503
let endpoint: Awaited<ReturnType<typeof startServer>>
const { nextUrl } = useConsole(project)
beforeAll(async () => {
  endpoint = await startServer(async () => ({ status, headers: { 'retry-after': '3600' } }))
  const body = { url: endpoint.url }
  const { relay } = local.stack().urls
  await fetchJson(`${relay}/api/v1/webhook/`, { method: 'PUT', body, key: `local-${SELF}` })
})
afterAll(() => endpoint.close())

const openAt = withBrowser()
const visit = async (
  hash: string,
  look: (page: Page) => Promise<unknown>,
  options: BrowserContextOptions = {},
) => {
  const { page, errors } = await openAt(`${nextUrl()}#/${hash}`, { reducedMotion: 'reduce', ...options })
  await look(page)
  expect([await violationsOf(page), errors]).toEqual([[], []])
  const { width } = page.viewportSize() ?? {}
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
}

const create = (external_id: string) =>
  storeOf(external_id, relayApi(`local-${SELF}`)).create({ source: SELF })
const isFailing = async (external_id: string) =>
  (await local.json(['feeds', 'show', SELF, external_id])).data.messages.at(-1)?.state === 'failing'

test('shows the messages that a store received, and retries one message or all of a store', async () => {
  for (const id of ['one', 'two', 'three']) await create(id)
  for (const id of ['one', 'two', 'three']) await until(() => isFailing(id))

  const failing = `The store "${SELF}" last answered 503`
  await visit('overview', async page => {
    const finding = page.locator('.finding', { hasText: failing })
    await finding.getByText(/^failing since .*; waiting: 3 messages; next attempt at /).waitFor()
    await finding.getByRole('link', { name: 'Messages' }).click()
    await page.waitForURL(new RegExp(`#/feeds\\?source=${SELF}&since=24h$`))
  })
  await visit('setup', page => page.locator('.finding', { hasText: failing }).waitFor())
  await visit(`stores/${SELF}`, page => page.locator('.finding', { hasText: failing }).waitFor())
  await visit('stores', page => page.getByText(/Cannot deliver to the store: it answered 503/).waitFor())
  await visit(`orders/${SELF}/one`, async page => {
    await page.getByText('fails', { exact: true }).waitFor()
    expect(await page.locator('main').innerText()).toMatch(/503 · .*next attempt in \d+ min/)
    status = 200
    await page.getByRole('button', { name: 'Retry the message to the store' }).click()
    await page.getByText('accepted', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Messages to the store' }).click()
    await page.getByRole('cell', { name: 'failed', exact: true }).waitFor()
    await page.getByRole('cell', { name: 'accepted', exact: true }).waitFor()
    await page.getByText('Content', { exact: true }).click()
    await page.getByText('"external_id": "one"').waitFor()
    await page.getByText(/^content-type, .*, x-service-signature, .*webhook-signature$/).waitFor()
    expect(await page.getByText('As it would be sent now').count()).toBe(0)
  })
  await visit('feeds?q=TWO', async page => {
    await page.getByText('Attempts in the log, newest first: 1.').waitFor()
    await page.getByRole('cell', { name: '503' }).waitFor()
    await page.getByRole('columnheader', { name: 'Next planned' }).waitFor()
  })
  // The store has accepted the message of another order since.
  await visit('overview', page =>
    page
      .locator('.finding', { hasText: 'retry those that wait' })
      .getByRole('button', { name: 'Retry all now' })
      .waitFor(),
  )
  await visit(`stores/${SELF}`, async page => {
    const retried = async (outcomes: string) => {
      const feed = page.locator('[aria-labelledby=feed]')
      await feed.getByRole('button', { name: 'Retry all now' }).click()
      await page.getByText(`Orders whose first waiting message was retried: 2. ${outcomes}`).waitFor()
    }
    status = 503
    await retried('Accepted: 0. Failed again: 2')
    status = 200
    await retried('Accepted: 2. Failed again: 0')
  })
  for (const id of ['two', 'three']) await until(async () => !(await isFailing(id)))
  await visit(
    'feeds?outcome=accepted',
    page => page.getByText('پذیرفته شد', { exact: true }).nth(3).waitFor(),
    { locale: 'fa-IR', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
  )
})

test('a message that is a dead letter is replayed from the page of its order', async () => {
  status = 503
  await create('dead')
  await until(() => isFailing('dead'))
  const [{ delivery, event }] = (await local.json(['feeds', 'show', SELF, 'dead'])).data.messages
  const data = { source: SELF, external_id: 'dead' }
  await local.stack().sqs.sendMessage({
    QueueUrl: local.queue(QUEUES.feedsDead),
    MessageGroupId: messageGroupOf(data),
    MessageDeduplicationId: delivery,
    MessageBody: JSON.stringify({ event, delivery, data }),
  })
  const replayed = async (page: Page, name: string) => {
    await page.getByRole('button', { name, exact: true }).click()
    await page.waitForURL(/#\/dead\/plan\//)
    await page.getByText('no call: the store is notified again').waitFor()
  }
  await visit(`orders/${SELF}/dead`, async page => {
    const reason = page.getByText(
      'The message is a dead letter, which is sent again only when it is replayed: Cannot deliver to the store: it answered 503',
    )
    await reason.first().waitFor()
    expect(await page.locator('main').innerText()).not.toContain('next attempt')
    await replayed(page, 'Replay the dead letter…')
  })
  await visit(`feeds/${SELF}/dead`, page => replayed(page, 'Replay the message to the store…'))
  await visit('orders', page => page.getByText('an operator: the message is a dead letter').waitFor())
  await visit('stores', async page => {
    const store = page.getByRole('row', { name: SELF })
    await store.getByText('Cannot deliver to the store: it answered 503').waitFor()
    await store.getByRole('link', { name: '1', exact: true }).click()
    await page.waitForURL(new RegExp(`#/dead\\?source=${SELF}$`))
  })
  const findings = (page: Page, text: string) => page.locator('.finding', { hasText: text })
  await visit(`stores/${SELF}`, async page => {
    await findings(page, `Messages to the store "${SELF}" are dead letters`)
      .getByText(/^1 message since .*: Cannot deliver to the store: it answered 503; a dead letter is sent/)
      .waitFor()
    await findings(page, 'are dead letters').getByRole('button', { name: 'Plan a replay' }).click()
    await page.waitForURL(/#\/dead\/plan\//)
  })
  await visit(
    `stores/${SELF}`,
    page => findings(page, 'در صف پیام‌های ناموفق (DLQ) هستند').getByText('۱ پیام از').waitFor(),
    { locale: 'fa-IR' },
  )
  await local.relay(['dead', 'replay', delivery])
  const replayedText = 'An operator replayed its dead letter'
  await visit(`orders/${SELF}/dead`, page => page.getByText(replayedText).waitFor())
  await visit(`feeds/${SELF}/dead`, async page => {
    await page.getByText(replayedText).waitFor()
    await page.getByRole('cell', { name: 'replayed', exact: true }).waitFor()
  })
})

test('says everywhere what to do about a store that refuses the signature, with a link to the test of a signature', async () => {
  status = 401
  await create('unverified')
  await until(() => isFailing('unverified'))
  const remedy = 'check that the store has the secret of its feed and verifies the raw bytes of the body'
  const found = async (page: Page) => {
    const finding = page.locator('.finding', { hasText: remedy }).first()
    await finding.getByText(/the store must register its URL again$/).waitFor()
    await finding.getByRole('link', { name: 'Explain a signature' }).waitFor()
  }
  for (const hash of ['overview', 'setup', 'feeds']) await visit(hash, found)
  await visit(`stores/${SELF}`, async page => {
    await page.getByRole('button', { name: 'Send a test event' }).click()
    const response = page.getByRole('status').filter({ hasText: 'it answered 401' })
    await response.getByText(remedy).waitFor()
    await response.getByRole('link', { name: 'Explain a signature' }).click()
    await page.waitForURL(/#\/setup\/signature$/)
  })
  await visit(
    'overview',
    page => page.getByText('امضا را روی بایت‌های خام متن بررسی می‌کند').first().waitFor(),
    { locale: 'fa-IR', viewport: { width: 390, height: 844 } },
  )
})

test('says everywhere what to do about a store that redirects, in both languages', async () => {
  status = 302
  await create('redirected')
  await until(() => isFailing('redirected'))
  const says = (remedy: string | RegExp) => (page: Page) =>
    page.locator('.finding', { hasText: '302' }).getByText(remedy).first().waitFor()
  for (const hash of ['overview', 'setup', 'feeds', `stores/${SELF}`]) {
    await visit(
      hash,
      says(
        /See where this one leads: .* If the receiver is there, change the URL that the store registers to it; /,
      ),
    )
    await visit(hash, says('رله ریدایرکت‌ها را دنبال نمی‌کند'), { locale: 'fa-IR' })
  }
})

/** A time zone in which it is the last hour of the day. */
const lastHour = () => {
  const hour = new Date().getUTCHours()
  return hour < 9 ? `Etc/GMT+${hour + 1}` : `Etc/GMT-${23 - hour}`
}

// In the last hour, the time of a key's last use names two days, the widest text that its cell can have.
test('the page of a store shows refused and expiring keys, creates another from there, and fits 1280 pixels', async () => {
  const options = { timezoneId: lastHour() }
  const args = ['--name', 'The till of the shop in Isfahan', '--create-only', '--expires', '10d']
  const { key } = (await local.json(['stores', 'key', SELF, ...args])).data
  const { relay } = local.stack().urls
  expect(await storeOf('till', relayApi(key)).create({ source: SELF })).toMatchObject({ status: 201 })
  expect(await fetchJson(`${relay}/api/v1/orders/till/?source=${SELF}`, { key })).toMatchObject({
    status: 403,
  })
  status = 422
  const usePage = async (page: Page) => {
    const refused = page.locator('.finding', { hasText: 'may only create orders, without a payment' })
    await refused
      .getByText(/one request .* was refused with 403/)
      .first()
      .waitFor()
    await page.locator('.finding', { hasText: 'The till of the shop in Isfahan" expires at' }).waitFor()
    await page.getByRole('cell', { name: 'The till of the shop in Isfahan' }).first().waitFor()
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await page.getByText('Cannot deliver to the store: it answered 422').waitFor()
    await page.getByText('422', { exact: true }).waitFor()
    await refused.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('This key is shown only once').waitFor()
  }
  await visit(`stores/${SELF}`, usePage, options)
  await visit('stores', page => page.locator('.finding', { hasText: 'was refused with 403' }).waitFor())
  await visit('setup', page => page.locator('.finding', { hasText: 'was refused with 403' }).waitFor())
})

// The last test of this file: it removes the store.
test('an order of a store that stores.yml no longer has says that its messages are not delivered', async () => {
  status = 200
  await create('left')
  const removed = 'stores.yml no longer has this store, so its messages are not delivered.'
  const button = (page: Page) => page.getByRole('button', { name: 'Resend to the store' })
  await visit(`orders/${SELF}/left`, async page => {
    await button(page).waitFor()
    expect(await page.getByText(removed).count()).toBe(0)
  })
  await change(project(), 'stores.yml', `  - { source: ${SELF}, feed: http }\n`, '')
  await visit(`orders/${SELF}/left`, async page => {
    await page.getByText(removed).waitFor()
    expect(await button(page).count()).toBe(0)
    // The attempt shows what the store received.
    await page.getByText('accepted', { exact: true }).waitFor()
    expect(await page.getByText('sent to its queue').count()).toBe(0)
  })
  await visit(`feeds/${SELF}/left`, page => page.getByText(removed).waitFor())
  // The functions of this stack do not read the changed file.
  const received = { level: 'INFO', message: 'delivery received', timestamp: new Date().toISOString() }
  const about = { outcome: 'ignored', why: 'foreign source', source_hash: sourceHash(SELF) }
  await appendFile(logFile(local.stack().dataDir), `${JSON.stringify({ ...received, ...about })}\n`)
  const ignored = `Webhooks of the store "${SELF}" are ignored: stores.yml does not have it`
  for (const hash of ['overview', 'stores', 'setup'])
    await visit(hash, page => page.locator('.finding', { hasText: ignored }).waitFor())
  await visit(
    `orders/${SELF}/left`,
    page => page.getByText('این فروشگاه دیگر در stores.yml نیست و پیام‌های آن تحویل داده نمی‌شوند.').waitFor(),
    { locale: 'fa-IR', viewport: { width: 320, height: 640 } },
  )
})
