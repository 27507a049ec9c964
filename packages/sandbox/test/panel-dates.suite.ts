import { expect, test } from '@jest/globals'
import { violationsOf } from '@order-relay/test-support/axe.ts'
import { fill, type OpenAt } from '@order-relay/test-support/browser.ts'
import { type Client, order } from './world.ts'

/** Dates in either calendar. */
export const dateTests = (openAt: OpenAt, client: () => Client) => {
  test('in Persian, shows and accepts Jalali dates and Persian digits, until the reader chooses others', async () => {
    const { page } = await openAt(`${client().url}/#/settings`, { locale: 'fa-IR' })
    await page.getByRole('button', { name: 'افزودن سال مالی' }).click()
    // 1403 was a leap year, 1404 was not.
    await fill(page, { 'از تاریخ': '۱۴۰۳/۱/۱', 'تا تاریخ': '1404/12/30' }, 'افزودن')
    await page
      .getByText('تاریخ «⁨1404/12/30⁩» وجود ندارد: ⁨اسفند ۱۴۰۴⁩ فقط ۲۹ روز دارد.', { exact: true })
      .waitFor({ timeout: 5000 })
    await fill(page, { 'تا تاریخ': '1404/13/1' }, 'افزودن')
    await page.getByText('سال فقط ۱۲ ماه دارد').waitFor()
    await fill(page, { 'تا تاریخ': '2026/2/29' }, 'افزودن')
    await page.getByText('فوریه').getByText('فقط ۲۸ روز دارد').waitFor()
    await fill(page, { 'تا تاریخ': '03/12/30' }, 'افزودن')
    await page
      .getByText(/«⁨03\/12\/30⁩» تاریخ نیست. «⁨تا تاریخ⁩» را مانند ⁨[۰-۹]{4}\/[۰-۹]{2}\/[۰-۹]{2}⁩ بنویسید/)
      .waitFor()
    await fill(page, { 'تا تاریخ': '١٤٠٣-١٢-٣٠' }, 'افزودن')
    await page.getByRole('rowheader', { name: '۱ فروردین ۱۴۰۳' }).waitFor()
    await page.getByRole('cell', { name: '۳۰ اسفند ۱۴۰۳ (۲۰ مارس ۲۰۲۵)' }).waitFor()
    expect(await client().list('fiscal-years')).toContainEqual({
      from: '2024-03-20',
      to: '2025-03-20',
      closed: false,
    })

    expect(await page.getByLabel('نرخ مالیات').inputValue()).toBe('۱۰')
    await fill(page, { 'نرخ مالیات': '۱۰۱' }, 'ذخیره تنظیمات')
    await page.getByText('نباید بیش از ۱۰۰ باشد').waitFor()

    await client().create(order('2002', { customer: { mobile: '09120000001' }, date: '2024-03-20' }))
    await page.evaluate('location.hash = "#/orders?q=۰۹۱۲۰۰۰۰۰۰۱"')
    const row = page.getByRole('row').filter({ hasText: '2002' })
    await row.getByText('۲٬۲۰۰').waitFor()
    await row.getByText('۱ فروردین ۱۴۰۳').waitFor()
    await row.getByRole('link', { name: '2002' }).click()
    await page.getByText('خریدار۰۹۱۲۰۰۰۰۰۰۱', { exact: true }).waitFor()
    await page.goBack()
    const prefer = async (name: string) => {
      await page.locator('.preferences').click()
      await page.getByRole('button', { name, exact: true }).click()
    }
    await prefer('لاتین (123)')
    await row.getByText('2,200').waitFor()
    await prefer('میلادی')
    await row.getByText('20 مارس 2024').waitFor()
    await prefer('English')
    await row.getByText('20 Mar 2024').waitFor()
    const colors = () => page.evaluate('getComputedStyle(document.body).colorScheme')
    expect(await colors()).toBe('light dark')
    await prefer('Dark')
    await row.getByText('20 Mar 2024').waitFor()
    expect(await colors()).toBe('dark')
  })

  test('a date typed in the other calendar or in another form is converted when the reader leaves the field', async () => {
    for (const [locale, button, typed, shown] of [
      ['fa-IR', 'افزودن سال مالی', '2026/11/26', '۱۴۰۵/۰۹/۰۵'],
      ['fa-IR', 'افزودن سال مالی', '١٤٠٥،٩،٥', '۱۴۰۵/۰۹/۰۵'],
      ['en-GB', 'Add fiscal year', '1405/09/05', '2026-11-26'],
      ['en-GB', 'Add fiscal year', '۱۴۰۵٫۹٫۵', '2026-11-26'],
    ] as const) {
      const { page, errors } = await openAt(`${client().url}/#/settings`, { locale })
      await page.getByRole('button', { name: button }).click()
      const [first, second] = [0, 1].map(index => page.getByRole('dialog').locator('input').nth(index))
      await first?.fill(typed)
      await second?.focus()
      expect([locale, typed, await first?.inputValue()]).toEqual([locale, typed, shown])
      expect(errors).toEqual([])
    }
    const { page } = await openAt(`${client().url}/#/settings`, { locale: 'en-GB' })
    await page.getByRole('button', { name: 'Add fiscal year' }).click()
    await fill(page.getByRole('dialog'), { 'First day': '1405/12/30', 'Last day': '2026-02-30' }, 'Add')
    await page.getByText('"1405/12/30" is not a date: Esfand 1405 has only 29 days.').waitFor()
    await page.getByText('February 2026 has only 28 days.').waitFor()
  })

  test('a day is chosen from a month of either calendar, with the keyboard', async () => {
    for (const [locale, add, choose, month, picked, year] of [
      [
        'en-GB',
        'Add fiscal year',
        'Choose a day',
        'February 2024',
        '2024-03-01',
        ['Previous year', 'February 2023'],
      ],
      ['fa-IR', 'افزودن سال مالی', 'انتخاب از تقویم', 'اسفند ۱۴۰۳', '۱۴۰۴/۰۱/۰۱', ['سال قبل', 'اسفند ۱۴۰۲']],
    ] as const) {
      const { page, errors } = await openAt(`${client().url}/#/settings`, { locale })
      await page.getByRole('button', { name: add }).click()
      const input = page.getByRole('dialog').locator('input').first()
      await input.fill(locale === 'fa-IR' ? '۱۴۰۳/۱۲/۳۰' : '2024-02-29')
      await page.getByRole('button', { name: choose }).first().click()
      await page.getByText(month).waitFor()
      expect(await violationsOf(page)).toEqual([])
      await page.keyboard.press(locale === 'fa-IR' ? 'ArrowLeft' : 'ArrowRight')
      await page.keyboard.press('Enter')
      expect(await input.inputValue()).toBe(picked)
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.locator('.month td button:focus').waitFor()
      await page.keyboard.press('PageUp')
      await page.getByText(month).waitFor()
      await page.getByRole('button', { name: year[0] }).click()
      await page.getByText(year[1]).waitFor()
      expect(await violationsOf(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.locator('.month').waitFor({ state: 'detached' })
      expect(await page.getByRole('dialog').isVisible()).toBe(true)
      expect(errors).toEqual([])
    }
  })

  test('another month of the calendar keeps the day, or has its last one', async () => {
    const { page } = await openAt(`${client().url}/#/settings`)
    await page.getByRole('button', { name: 'Add fiscal year' }).click()
    await page.getByRole('dialog').locator('input').first().fill('2024-05-31')
    await page.getByRole('button', { name: 'Choose a day' }).first().click()
    for (const [key, day] of [
      ['PageUp', '30 Apr 2024'],
      ['PageUp', '30 Mar 2024'],
      ['PageUp', '29 Feb 2024'],
      ['PageDown', '29 Mar 2024'],
    ] as const) {
      await page.keyboard.press(key)
      await page.locator(`.month td button:focus[aria-label="${day}"]`).waitFor({ timeout: 5000 })
    }
  })

  test('the filter by day shows the days of the list, or an error that says that the list ignores the date', async () => {
    await client().create(order('1'))
    const { page, errors } = await openAt(`${client().url}/#/orders`, { locale: 'en-GB' })
    const from = page.getByLabel('First day')
    const to = page.getByLabel('Last day')
    const days = async () => [await from.inputValue(), await to.inputValue()]
    const problem = page
      .getByRole('alert')
      .filter({ hasText: 'The list, totals and exports ignore this date.' })
    const isResolved = () => problem.waitFor({ state: 'detached' })
    const csv = () => page.getByRole('link', { name: 'Export CSV (for Excel)' }).getAttribute('href')
    await from.fill('2026-11-27')
    await to.fill('2026-11-22')
    await problem.getByText('The first day, 27 Nov 2026, is after the last day, 22 Nov 2026').waitFor()
    expect([await csv(), await days()]).toEqual([
      expect.stringMatching(/csv\?from=2026-11-27$/),
      ['2026-11-27', '2026-11-22'],
    ])
    await page.getByLabel('Fiscal year').selectOption({ label: '2026–2027' })
    await isResolved()
    expect(await days()).toEqual(['2026-03-21', '2027-03-20'])

    const today = new Date().toISOString().slice(0, 10)
    for (const [typed, link, expected] of [
      ['abc', 'Today', [today, today]],
      ['2026-02-30', 'Paid 0', ['', today]],
    ] as const) {
      for (const attempt of ['once', 'again']) {
        await from.fill('')
        await from.fill(typed)
        await to.focus()
        await problem.waitFor()
        expect([attempt, await from.inputValue()]).toEqual([attempt, typed])
      }
      await page.getByRole('link', { name: link }).click()
      await isResolved()
      expect(await days()).toEqual(expected)
    }
    await from.fill('abc')
    await page.goBack()
    await page.getByRole('link', { name: 'All 1' }).and(page.locator('[aria-current]')).waitFor()
    expect(await days()).toEqual(['', today])
    expect(errors).toEqual([])
  })

  test("days are the service's, even where the browser's day is another one", async () => {
    const now = new Date()
    const today = now.toISOString().slice(0, 10)
    // The sandbox is in UTC. These zones are 12 hours behind and 14 hours ahead.
    const timezoneId = now.getUTCHours() < 10 ? 'Etc/GMT+12' : 'Etc/GMT-14'
    await client().create(order('1'))
    const { page } = await openAt(`${client().url}/#/orders`, { locale: 'en-GB', timezoneId })
    await page.getByRole('link', { name: 'Today' }).click()
    await page.waitForURL(`**from=${today}&to=${today}`)
    await page.getByRole('row').filter({ hasText: '2,200' }).waitFor()
    expect(await page.getByText('In the future').count()).toBe(0)
    await page.getByRole('button', { name: 'Choose a day' }).first().click()
    await page.locator(`.month [aria-current="date"][aria-pressed="true"]`).waitFor({ timeout: 5000 })
  })
}
