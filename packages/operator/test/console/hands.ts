import { expect } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import type { Opened } from '@order-relay/test-support/browser.ts'
import { local } from '@order-relay/test-support/relay.ts'
import type { BrowserContextOptions, Page } from 'playwright-core'

export type Open = (options?: BrowserContextOptions) => Promise<Opened>

type Address = BrowserContextOptions & {
  hash: string
  /** Requests that the console refuses. */
  isRefused?: boolean
}

/** Actions on a page, by visible labels. */
const handsOn = (page: Page) => {
  const dialog = page.getByRole('dialog')
  return {
    page,
    click: (role: 'link' | 'button', name: string) =>
      page.getByRole(role, { name, exact: true }).first().click(),
    /** Fills a field of the dialog. */
    fill: (label: string, text: string) => dialog.getByLabel(label).fill(text),
    submit: (name: string) => dialog.getByRole('button', { name, exact: true }).click(),
    isAccessible: async () => expect(await violationsOf(page)).toEqual([]),
  }
}

export const goTo = (page: Page, hash: string) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`)

export const letter = (external_id: string) =>
  local.enqueue('orders-dead.fifo', 'order.payment', {
    external_id,
    accepted_at: Date.now(),
    body: JSON.stringify({ method: 'card', reference: '<b>\u202er</b>' }),
  })

export const shownOrder = async (external_id: string) =>
  (await local.json(['orders', 'show', 'api', external_id])).data.result

/** Visits a page, which must be accessible and cause no errors other than the expected ones. */
export const visiting =
  (open: Open) =>
  async (
    { hash, isRefused = false, ...options }: Address,
    act: (hands: ReturnType<typeof handsOn>) => Promise<unknown>,
  ) => {
    const { page, errors } = await open(options)
    const hands = handsOn(page)
    await goTo(page, hash)
    await act(hands)
    await hands.isAccessible()
    expect(errors.filter(error => !(isRefused && error.includes('409')))).toEqual([])
  }
