import { expect, test } from '@jest/globals'
import { local } from '../cli/relay.ts'
import { violationsOf } from '../sandbox/panel-axe.ts'
import type { Opened } from '../sandbox/panel-browser.ts'

const request = JSON.stringify({ method: 'card', reference: '<b>\u202er</b>' })
const letter = (external_id: string) =>
  local.enqueue('orders-dead.fifo', 'order.payment', { external_id, request })

/** On a busy machine, a plan is carried out slowly. */
const BUSY = { timeout: 30_000 }

/** The console's pages of dead letters, with the local stack of this file. */
export const messagePageTests = (open: (options?: { locale?: string }) => Promise<Opened>) => {
  test('a group of dead letters is inspected, planned, broken off, resumed, and kept in the history', async () => {
    await local.empty('orders-dead.fifo', 'feeds-dead.fifo')
    const ids = Array.from({ length: 40 }, (_, index) => `page-${index}`)
    await Promise.all(ids.map(id => local.create(id)))
    await Promise.all(ids.map(letter))
    const { page, errors } = await open()
    const click = (role: 'link' | 'button', name: string) =>
      page.getByRole(role, { name, exact: true }).first().click()
    const isAccessible = async () => expect(await violationsOf(page)).toEqual([])
    await click('link', 'Dead letters')
    await click('link', 'order queue: order.payment of api')
    await isAccessible()
    await click('link', 'page-7')
    // Hostile text is shown as it is, without effect.
    await page.getByText('<b>\\u202er</b>').waitFor()
    await isAccessible()
    await page.goBack()
    await click('button', 'Plan a replay')
    await page.getByText('payment 40').waitFor()
    await isAccessible()
    await letter('later')

    await click('button', 'Replay')
    await page.getByLabel('Reason').fill('the service is back')
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click()
    await click('button', 'Break off')
    await page.getByText('broken off').first().waitFor()
    await click('button', 'Resume')
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click()
    await page.getByText(/were gone before/).waitFor(BUSY)
    await page.getByRole('row', { name: /replayed \d+ .*the service is back/ }).waitFor(BUSY)
    await isAccessible()
    const paid = await Promise.all(ids.map(local.order))
    expect(new Set(paid.map(({ status }) => status))).toEqual(new Set(['paid']))

    const openPlan = (text: string) =>
      page
        .locator('input[type=file]')
        .setInputFiles({ name: 'plan.json', mimeType: 'application/json', buffer: Buffer.from(text) })
    await openPlan('{}')
    await page.getByText('the file holds none').waitFor()
    const { data: plan } = await local.json(['dead', 'replay', '--order', 'later', '--dry-run'])
    await openPlan(JSON.stringify(plan))
    await page.getByRole('heading', { name: 'Replay: order=later 1' }).waitFor()
    await isAccessible()
    await page.goBack()
    await page.getByLabel('Period').selectOption('1h')
    await click('link', 'later')
    await click('button', 'Plan a deletion')
    await click('button', 'Delete')
    await page.getByLabel('Type').fill('something else')
    const remove = page.getByRole('dialog').getByRole('button', { name: 'Delete' })
    await remove.click()
    await page.getByText('it was not confirmed by the name').waitFor()
    const { letters } = (await local.json(['dead', 'list', '--order', 'later'])).data
    await page.getByLabel('Type').fill(letters[0].id)
    await remove.click()
    await page.getByText('Nothing is here.').waitFor(BUSY)
    expect(errors.filter(error => !error.includes('409'))).toEqual([])
  })
}
