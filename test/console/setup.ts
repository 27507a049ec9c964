import { createHmac } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { local } from '../cli/relay.ts'
import { violationsOf } from '../sandbox/panel-axe.ts'
import type { Opened } from '../sandbox/panel-browser.ts'

/** The relay looks for a new secret at most once in a minute. */
const LOOKUP = { timeout: 75_000 }

/** The console's pages that set up and test the webhook, with the local stack of this file. */
export const setupPageTests = (open: (options?: { locale?: string }) => Promise<Opened>) => {
  test('the webhook is unregistered, registered where its absence is found, and a rotation broken off', async () => {
    const { page, errors } = await open()
    await page.evaluate('location.hash = "#/setup"')
    const click = (name: string) => page.getByRole('button', { name, exact: true }).first().click()
    const dialog = page.getByRole('dialog')
    const submit = (name: string) => dialog.getByRole('button', { name, exact: true }).click()

    await click('Set the API key…')
    await dialog.getByLabel('API key').fill('nonsense')
    await submit('Store the key')
    await dialog.getByText('401 The key is not known').waitFor()
    await dialog.getByLabel('API key').fill('sandbox-key')
    await submit('Store the key')
    await page.getByText('Stored; it takes effect within a minute.').waitFor()

    await click('Unregister…')
    await dialog.getByLabel('Type the URL').fill('http://127.0.0.1/another')
    await submit('Unregister')
    await dialog.getByText('it was not confirmed by the name').waitFor()
    await dialog.getByLabel('Type the URL').fill(await dialog.getByLabel('Webhook URL').inputValue())
    expect(await violationsOf(page)).toEqual([])
    await submit('Unregister')
    await page.getByText('1 secret deleted').waitFor()

    const missing = page.locator('.finding', { hasText: 'the webhook is registered' })
    await missing.getByRole('button', { name: 'Register…' }).click()
    await submit('Register')
    await page.getByText('The relay accepts webhooks signed with it.').waitFor(LOOKUP)
    expect(await violationsOf(page)).toEqual([])

    await click('Rotate the secret…')
    await dialog.getByLabel('Announce').fill('600')
    await submit('Rotate')
    await page
      .getByRole('progressbar', { name: /^Announcing the new secret to the relay: \d+ of 600/ })
      .waitFor()
    await click('Stop')
    await page.getByText('broken off').waitFor()
    expect((await local.relay(['doctor'])).out).toContain('No problems found')
    expect(errors.filter(error => !error.includes('409'))).toEqual([])
  })

  test('a test delivery is sent, and the signature of another explained, in Persian too', async () => {
    const { page, errors } = await open()
    await page.evaluate('location.hash = "#/setup/send"')
    const send = page.getByRole('button', { name: 'Send' })
    await send.click()
    await page.getByText('Fill this in').waitFor()
    await page.getByLabel('Order number').fill('sent-by-the-console')
    await page.getByText('More').click()
    await page.getByLabel('Receipt number').fill('7')
    await page.getByLabel('Wait for the order').fill('20')
    await send.click()
    await page.getByText('200', { exact: true }).waitFor({ timeout: 30_000 })
    expect(await violationsOf(page)).toEqual([])
    const shown = await local.json(['orders', 'show', 'api', 'sent-by-the-console'])
    expect(shown.data.result).toMatchObject({ status: 'paid', total: '1000', receipt_number: 7 })

    const t = Math.round(Date.now() / 1000)
    const v1 = createHmac('sha256', 'whsec_secret').update(`${t}.{"event":"x"}\n`).digest('hex')
    for (const [locale, labels, cause] of [
      ['en-GB', ['Body', 'Secret'], 'a line break at the end of the body was removed'],
      ['fa-IR', ['متن', 'کلید امضا'], 'پایان سطرِ آخر متن حذف شده است'],
    ] as const) {
      const reader = await open({ locale })
      await reader.page.evaluate('location.hash = "#/setup/signature"')
      await reader.page.getByLabel('X-Service-Signature').fill(`t=${t},v1=${v1}`)
      await reader.page.getByLabel(labels[0], { exact: true }).fill('{"event":"x"}')
      await reader.page.getByLabel(labels[1], { exact: true }).fill('whsec_secret')
      await reader.page.locator('form button[type=submit]').click()
      await reader.page.getByText(cause).waitFor()
      expect([await violationsOf(reader.page), reader.errors]).toEqual([[], []])
      await reader.page.locator('input[type=file]').setInputFiles({
        name: 'body',
        mimeType: 'application/json',
        buffer: Buffer.from('{"event":"x"}\n'),
      })
      await reader.page.locator('form button[type=submit]').click()
      await reader.page.locator('.chip[data-tone=good]').waitFor()
    }
    expect(errors).toEqual([])
  })
}
