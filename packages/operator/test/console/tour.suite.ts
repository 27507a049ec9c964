import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import type { Open } from './hands.ts'

/** Covers the tour's outage and the time until the relay has sent the payment again. */
const HEALED = { timeout: 90_000 }

export const tourTests = (open: Open) => {
  test('the tour takes an order through an outage and another through a review', async () => {
    const { page, errors } = await open()
    await page.getByRole('link', { name: 'Take the two-minute tour' }).click()
    const part = (title: string) => page.getByRole('region', { name: title })
    const take = async (title: string, action: string, text: string) => {
      await part(title).getByRole('button', { name: action }).click()
      await part(title).getByText(text).waitFor()
    }
    await take('Send an order', 'Send the order', 'Answer to the store: 201 invoiced')
    await page.reload()
    await part('Send an order').getByText('Answer to the store: 201 invoiced').waitFor()
    const waits = part('Cause an outage').getByText('The service fails for 20 seconds, and the payment waits')
    const isSaid = waits.waitFor()
    await take('Cause an outage', 'Break the service and pay', 'Answer to the store: 202 waiting')
    await isSaid
    expect(await page.getByRole('button', { name: 'Order a chair' }).count()).toBe(0)
    await part('Cause an outage').getByText('Paid', { exact: true }).waitFor(HEALED)
    await take('Let an accountant decide', 'Order a chair', 'Answer to the store: 202 held')
    await part('Let an accountant decide').getByText('Needs review', { exact: true }).waitFor()
    await take('Watch the recovery', 'Correct the stock and retry', 'The service has sent a signed webhook')
    expect(await part('Watch the recovery').getByText('Paid', { exact: true }).count()).toBe(1)
    await part('End of the tour').waitFor()
    expect(await part('End of the tour').getByRole('link').allInnerTexts()).toEqual([
      expect.stringMatching(/^tour-.*-1$/),
      expect.stringMatching(/^tour-.*-2$/),
      'demo-shop',
    ])
    const [reference] = await Promise.all([
      page.context().waitForEvent('page'),
      part('Connect your own store').getByRole('link', { name: 'API reference' }).click(),
    ])
    await reference.waitForURL(/\/docs\/?$/)
    await reference.close()
    expect(await violationsOf(page)).toEqual([])

    const [panel] = await Promise.all([
      page.context().waitForEvent('page'),
      part('Watch the recovery').getByRole('link', { name: 'Show the order in the panel' }).click(),
    ])
    await panel.getByRole('heading', { name: /tour-/ }).waitFor()

    // A check confirms the result of the webhook later.
    await part('Watch the recovery')
      .getByRole('link', { name: /^tour-.*-2$/ })
      .click()
    await page.getByRole('heading', { name: 'Nothing waits' }).waitFor()
    await page.getByText('The relay confirms this result with the service by about').waitFor()
    expect(await page.getByRole('button', { name: 'Check now' }).count()).toBe(1)
    expect(await page.getByText('In doubt').count()).toBe(0)

    await page.goto(page.url().replace(/#.*/, '#/overview'))
    await page.getByRole('button', { name: 'Hide' }).click()
    await page.reload()
    await page.getByText('Last hour, per minute').waitFor()
    expect(await page.getByRole('link', { name: 'Take the two-minute tour' }).count()).toBe(0)
    expect(errors).toEqual([])
  })

  test('the tour is also available in Persian', async () => {
    const { page } = await open({ locale: 'fa-IR' })
    await page.getByRole('link', { name: 'آشنایی در دو دقیقه' }).click()
    await page.getByRole('button', { name: 'ارسال سفارش' }).waitFor()
    expect(await page.locator('main p, main h2').allInnerTexts()).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/^[A-Za-z]/)]),
    )
    expect(await violationsOf(page)).toEqual([])
  })
}
