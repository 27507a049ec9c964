import { createHmac } from 'node:crypto'
import { appendFile, writeFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import { keyUseItem } from '@order-relay/lib/api/keys.ts'
import { parametersBelow } from '@order-relay/lib/platform/parameters.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { local } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'
import { onceInMemory } from 'order-relay-store'
import { consumeFeed } from 'order-relay-store/sqs'
import { goTo, type Open, shownOrder, visiting } from './hands.ts'

const SECRETS = '/order-relay/local/webhook/secrets'

/** The relay reads new secrets once a minute. */
const LOOKUP = { timeout: 75_000 }

const FEED = 'feed-demo-shop.fifo'

export const setupPageTests = (open: Open) => {
  const visit = visiting(open)
  const folder = useFolder()

  test('unregisters the webhook, registers it from the finding, and stops a rotation', () =>
    visit({ hash: '#/setup', isRefused: true }, async ({ page, click, fill, submit, isAccessible }) => {
      await click('button', 'Set the API key…')
      await fill('API key', 'nonsense')
      await submit('Store the key')
      await page.getByText('401 The key is not known').waitFor()
      await fill('API key', 'sandbox-key')
      await submit('Store the key')
      await page
        .getByText(
          'Stored; it is used within 15 seconds if the service refuses the current key, otherwise within a minute.',
        )
        .waitFor()

      await click('button', 'Unregister…')
      await fill('Type the URL', 'http://127.0.0.1/another')
      await submit('Unregister')
      await page.getByText('it was not confirmed by the name').waitFor()
      await fill('Type the URL', await page.getByLabel('Webhook URL').inputValue())
      await isAccessible()
      await submit('Unregister')
      await page.getByText('1 secret deleted').waitFor()

      const missing = page.locator('.finding', { hasText: 'the webhook is not registered' })
      await missing.getByRole('button', { name: 'Register…' }).click()
      await submit('Register')
      await page.getByText('The relay accepts webhooks signed with it.').waitFor(LOOKUP)
      const missed = page.locator('.finding', { hasText: 'no webhooks were received from' }).last()
      await missed.getByRole('button', { name: 'Audit', exact: true }).waitFor()
      await isAccessible()

      await click('button', 'Rotate the secret…')
      await fill('Announce', '600')
      await submit('Rotate')
      const announcing = { name: /^Announcing the new secret to the relay: \d+ of 600/ }
      await page.getByRole('progressbar', announcing).waitFor()
      await click('button', 'Stop')
      await page
        .getByText(
          /interrupted before the secret was replaced; the secret \S+ is still in use; to start again, run .*relay rotate/,
        )
        .waitFor()
      // The announcement takes a few seconds, and both secrets are accepted afterwards.
      await click('button', 'Rotate the secret…')
      await fill('Announce', '0')
      await submit('Rotate')
      await page.getByRole('progressbar', { name: /^Accepting both secrets/ }).waitFor(LOOKUP)
      await click('button', 'Check again')
      await page.getByText(/wait until the running change of the registration ends/).waitFor()
      await click('button', 'Stop')
      await page
        .getByText(
          /interrupted while both secrets are accepted; the secret \S+ is in use; to delete the old one, run .*relay rotate/,
        )
        .waitFor()
      const stored = page.locator('.finding', { hasText: 'webhook secrets are stored' })
      await stored.getByText('webhooks signed with the old one may still arrive').waitFor()
      // The old secret is not deleted while the service signs with it.
      const [[, old] = []] = Object.entries(await parametersBelow(local.stack().ssm, SECRETS)()).sort()
      const order = 'signed-with-the-old-secret'
      const send = ['send', '--external-id', order, '--yes', order]
      await until(async () => {
        await local.relay([...send, '--secret-stdin'], { input: String(old) })
        return (await page.getByText('the secret last known to be in use is').count()) > 0
      })
      expect(await page.getByRole('button', { name: 'Delete the old secret…' }).count()).toBe(0)
      expect((await local.relay(['rotate', '--overlap', '0s'])).err).toContain('not the newest')
      await local.relay(send)
      await page.getByRole('button', { name: 'Delete the old secret…' }).first().waitFor()
      await local.relay(['rotate', '--overlap', '0s'])
      await local.empty('orders-dead.fifo', 'feeds-dead.fifo')
      expect((await local.relay(['doctor'])).out).toContain('No problems found')
    }))

  test('Setup repeats its checks when a command changes the registration, and shows the time of the last check', () =>
    visit({ hash: '#/setup' }, async ({ page }) => {
      await page.getByText(/^Checked (now|\d+ sec)/).waitFor()
      const { url } = (await local.json(['register', '--no-check'])).data
      await local.relay(['unregister', '--yes', url])
      await page.locator('.finding', { hasText: 'the webhook is not registered' }).waitFor()
      await page.getByText('1 problem', { exact: true }).waitFor()
      await local.relay(['register', '--no-check'])
      await page.locator('.finding', { hasText: 'the webhook was registered by this relay' }).waitFor(LOOKUP)
    }))

  test('an open page repeats the checks of Setup, or reads the keys of stores again, after a change by a command', async () => {
    const { ssm } = local.stack()
    const Name = `${SECRETS}/00000000-another`
    const keys = (await local.json(['stores', 'show', 'demo-shop'])).data.keys.length
    await visit({ hash: '#/stores' }, async ({ page }) => {
      await page.getByRole('row', { name: new RegExp(`^demo-shop .* ${keys}( |$)`) }).waitFor()
      await local.relay(['stores', 'key', 'demo-shop', '--name', 'seen later'])
      await page.getByRole('row', { name: new RegExp(`^demo-shop .* ${keys + 1}( |$)`) }).waitFor()

      await page.clock.install()
      await goTo(page, '#/setup')
      await page.getByText(/^Checked (now|\d+ sec)/).waitFor()
      const kept = page.locator('.finding', { hasText: 'the accounting service accepts the API key' })
      await kept.evaluate(each => each.setAttribute('data-is-kept', 'true'))
      await ssm.putParameter({ Name, Value: 'secret', Type: 'SecureString' })
      const other = page.locator('.finding', { hasText: 'secrets of other URLs are accepted' })
      await other.waitFor()
      await ssm.deleteParameter({ Name })
      await other.waitFor({ state: 'detached' })
      expect(await kept.getAttribute('data-is-kept')).toBe('true')
      // Without any change, too.
      await page.getByText(/^Checked [1-9]\d* sec/).waitFor()
      await page.clock.fastForward(60_000)
      await page.getByText(/^Checked (now|\d sec)/).waitFor()
    })
  })

  test('sends a test delivery', () =>
    visit({ hash: '#/setup/send' }, async ({ page, click }) => {
      await click('button', 'Send')
      await page.getByText('Fill in this field').waitFor()
      await page.getByLabel('Order number').fill('sent-by-the-console')
      await page.getByText('More fields').click()
      await page.getByLabel('Receipt number').fill('7')
      await page.getByLabel('Wait for the order').fill('20')
      await click('button', 'Send')
      await page.getByText('200', { exact: true }).waitFor()
      const result = { status: 'paid', total: '1000', receipt_number: 7 }
      expect(await shownOrder('sent-by-the-console')).toMatchObject(result)
    }))

  test.each([
    ['en-GB', ['Body', 'Secret'], 'a line break at the end of the body was removed'],
    ['fa-IR', ['متن', 'کلید امضا'], 'پایان سطر از انتهای متن حذف شده است'],
  ] as const)('explains a signature in %s', (locale, [bodyLabel, secretLabel], cause) =>
    visit({ hash: '#/setup/signature', locale }, async ({ page, isAccessible }) => {
      const t = Math.round(Date.now() / 1000)
      const body = '{"event":"x"}\n'
      const v1 = createHmac('sha256', 'whsec_secret').update(`${t}.${body}`).digest('hex')
      const explain = page.locator('form button[type=submit]')
      await page.getByLabel('X-Service-Signature').fill(`t=${t},v1=${v1}`)
      await page.getByLabel(bodyLabel, { exact: true }).fill(body.trim())
      await page.getByLabel(secretLabel, { exact: true }).fill('whsec_secret')
      await explain.click()
      await page.getByText(cause).waitFor()
      await isAccessible()
      const file = { name: 'body', mimeType: 'application/json', buffer: Buffer.from(body) }
      await page.locator('input[type=file]').setInputFiles(file)
      await explain.click()
      await page.locator('.chip[data-tone=good]').waitFor()
    }),
  )

  test('a test of a store says what it does, shows findings as they appear, and can be stopped', async () => {
    await local.empty(FEED)
    const stop = new AbortController()
    const handled = folder('handled.txt')
    await writeFile(handled, '')
    const consuming = consumeFeed({
      sqs: local.stack().sqs,
      queueUrl: local.queue(FEED),
      once: onceInMemory(),
      signal: stop.signal,
      handle: ({ delivery }) => appendFile(handled, `${delivery}\n`),
    })
    await visit({ hash: '#/stores/demo-shop', locale: 'fa-IR' }, async ({ page, isAccessible }) => {
      const start = async (log: string) => {
        await page.getByRole('button', { name: 'آزمون فروشگاه' }).click()
        await page.getByRole('dialog').getByText('relay-conformance-').waitFor()
        await isAccessible()
        await page.getByLabel('محل ثبت').fill(log)
        await page.getByRole('button', { name: 'شروع آزمون' }).click()
      }
      await start('')
      await page.getByText(/ارزیابی .*تحویل.* ممکن نیست/).waitFor()
      await start(handled)
      await page.getByText('مشکلی پیدا نشد').waitFor()
      const found = await page.locator('.finding p').allInnerTexts()
      expect(found.filter(text => !/[\u0600-\u06ff]/.test(text))).toEqual([])
      expect(found.join()).toContain('هر تغییر را یک بار و به ترتیب پردازش کرد')
      expect(found.join()).toContain('relay conformance demo-shop --local')
      const section = page.locator('[aria-labelledby=conformance]')
      expect(await section.getByText('پایان').count()).toBe(1)
      expect(await section.getByRole('progressbar').count()).toBe(0)
      await isAccessible()

      stop.abort()
      await consuming
      await start(handled)
      await page.getByRole('button', { name: 'توقف' }).click()
      await page.getByRole('alert').filter({ hasText: 'متوقف شد' }).waitFor()
      await local.empty(FEED)
    })
  })

  test('the only key that a store uses is revoked by typing its name, and any other with a click', async () => {
    for (const name of ['till', 'spare']) await local.relay(['stores', 'key', 'demo-shop', '--name', name])
    const { data } = await local.json(['stores', 'show', 'demo-shop'])
    // Records a use of the key "till" only.
    for (const { id, name } of data.keys) {
      const Item = { ...keyUseItem(id), used_at: { S: new Date().toISOString().slice(0, 13) } }
      await local.stack().dynamodb.putItem({
        TableName: 'deliveries',
        Item: name === 'till' ? Item : keyUseItem(id),
      })
    }
    await visit(
      { hash: '#/stores/demo-shop', isRefused: true },
      async ({ page, fill, submit, isAccessible }) => {
        await page.getByRole('button', { name: 'Revoke key spare' }).click()
        await submit('Revoke')
        await page.getByText('Revoked; it stops working within a minute.').waitFor()
        await page.getByRole('button', { name: 'Revoke key till' }).click()
        await page.getByText('it loses its access within a minute').waitFor()
        await isAccessible()
        await fill('Type till', 'another')
        await submit('Revoke')
        await page.getByText('it was not confirmed by the name; type "till"').waitFor()
        await fill('Type till', 'till')
        await submit('Revoke')
        await page.getByRole('button', { name: 'Revoke key till' }).waitFor({ state: 'detached' })
      },
    )
  })

  test.each([
    {
      locale: 'en-GB',
      finding: /^[^\u0600-\u06ff]+$/,
      problems: /problem/,
      overview: 'Overview',
      deadLetters: 'Dead letters',
      whatToDo: 'What to do',
      recovery: 'Recovery',
      plan: 'Plan a replay',
      replay: 'Replay',
    },
    {
      locale: 'fa-IR',
      // Commands and addresses are not translated.
      finding: /[\u0600-\u06ff]|^relay |^http:/,
      problems: /مشکل/,
      overview: 'نمای کلی',
      deadLetters: 'پیام‌های ناموفق',
      whatToDo: 'راهنمای رفع مشکل',
      recovery: 'بازگشت به حالت عادی',
      plan: 'برنامهٔ پردازش مجدد',
      replay: 'پردازش مجدد',
    },
  ])(
    'setup shows findings, and the overview updates with events, in $locale',
    ({ locale, finding, problems, overview, deadLetters, whatToDo, recovery, plan, replay }) =>
      visit({ hash: '#/setup', locale }, async ({ page, isAccessible }) => {
        await page.getByRole('status').filter({ hasText: problems }).waitFor()
        const found = await page.locator('.finding p').allInnerTexts()
        expect(found.filter(text => !finding.test(text))).toEqual([])
        await goTo(page, '#/overview')
        await page.getByRole('heading', { name: overview }).waitFor()
        await local.enqueue('orders-dead.fifo', 'order.check', { external_id: 'dead-for-the-console' })
        await page.locator('.verdict', { hasText: deadLetters }).waitFor()
        await page.getByRole('link', { name: whatToDo }).click()
        await page.getByRole('heading', { name: recovery }).waitFor()
        await page.getByText('npx relay dead replay --all --plan <file> --local').waitFor()
        await isAccessible()
        await page.getByRole('button', { name: plan }).click()
        await page.getByRole('heading', { name: replay }).waitFor()
        await local.empty('orders-dead.fifo')
      }),
  )
}
