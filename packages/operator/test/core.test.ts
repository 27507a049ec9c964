import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { bundle } from '@order-relay/deploy/bundle.ts'
import { DAY, HOUR } from '@order-relay/lib/platform/environment.ts'
import { secondsOf } from '@order-relay/lib/platform/stores.ts'
import { visible } from '@order-relay/lib/platform/visible.ts'
import { logFile } from '@order-relay/local/log.ts'
import { textOf } from '../core/coded.ts'
import type { Context } from '../core/context.ts'
import { explain } from '../core/errors.ts'
import { type LogLine, logOf, newestOf } from '../core/log.ts'
import { since } from '../core/options.ts'
import { count, facts, shellWord, table } from '../core/output.ts'
import { colored, progress } from '../core/terminal.ts'
import { type Windows, windowFindings } from '../doctor/windows.ts'
import { feedSecretsOf } from '../model/feed-secrets.ts'
import { setSecret } from '../stores/credentials.ts'
import { toSource } from '../tail.ts'

test.each([
  ['90s', 90],
  ['15m', 900],
  ['2h', 7200],
  ['7d', 604_800],
  ['7', undefined],
  ['m', undefined],
  ['1.5h', undefined],
  ['-1h', undefined],
])('parses the duration "%s" as %s seconds', (text, seconds) => {
  expect(secondsOf(text)).toBe(seconds)
})

test('--since takes a duration or a date', () => {
  expect(Math.abs(since('2h').getTime() - (Date.now() - 7_200_000))).toBeLessThan(1000)
  expect(since('2026-03-21').toISOString()).toBe('2026-03-21T00:00:00.000Z')
  expect(since('2026-03-21T09:30:00+03:30').toISOString()).toBe('2026-03-21T06:00:00.000Z')
  for (const wrong of ['', 'yesterday', '2026-13-01', '21.3.2026', '1'])
    expect(() => since(wrong)).toThrow('date')
})

test.each([
  ['shop-1.ir', 'shop-1.ir'],
  ['فروشگاه شمالی', "'فروشگاه شمالی'"],
  ["Ann's $hop", "'Ann'\\''s $hop'"],
])('quotes %s for the shell as %s', (word, quoted) => {
  expect(shellWord(word)).toBe(quoted)
})

test('prints the progress in a new line every ten seconds if standard error is not a terminal', () => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const terminal = { stdin, stdout, stderr, environment: {} }
  let now = 0
  const shown = progress(terminal, 'Waiting', 25, ' s', () => now)
  for (let second = 1; second <= 25; second++) {
    now = second * 1000
    shown.advance()
  }
  shown.clear()
  expect(stderr.read()?.toString()).toBe('Waiting: 10 of 25 s\nWaiting: 20 of 25 s\n')
})

test('aligns columns and escapes control characters', () => {
  const rows = [['xyz', 1] as const, [undefined, 'a\u001b[2Jb'] as const]
  expect(table(['A', 'LONG'], rows)).toBe('A    LONG\nxyz  1\n-    a\\u001b[2Jb')
  expect(facts({ a: 1, longer: 'x\n', none: undefined })).toBe('a       1\nlonger  x\\u000a')
  expect(visible('می\u200cشود 🛒')).toBe('می\u200cشود 🛒')
  // After these, U+200C changes nothing: digits, letters that never join the next one, and no letter.
  for (const before of ['\u06f1', '\u0631', '\u0627', '\u0621', '\u064b', 'a'])
    expect(visible(`${before}\u200c\u06cc`)).toBe(`${before}\\u200c\u06cc`)
  for (const after of ['\u06f2', '\u0621', ' ', ''])
    expect(visible(`ی\u200c${after}`)).toBe(`ی\\u200c${after}`)
  expect(visible('a\u2028b\u009bc\u202ed')).toBe('a\\u2028b\\u009bc\\u202ed')
  const invisible =
    '\u00ad\u061c\u115f\u180e\u200b\u200c\u200d\u200f\u2060\u2066\u2800\u3000\u3164\u00a0\ufe0f\ufeff\ufff9\ud800'
  for (const character of invisible)
    expect(visible(`1${character}1`)).toBe(`1\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}1`)
  // A tag character, which JSON escapes as a surrogate pair.
  expect(visible('1\u{e0041}1')).toBe('1\\udb40\\udc411')
  expect(JSON.parse(visible('"1\u{e0041}1"'))).toBe('1\u{e0041}1')
  expect([1, 2, 0].map(number => count(number, 'message'))).toEqual(['1 message', '2 messages', '0 messages'])
  expect(count(0, 'reply', 'replies')).toBe('0 replies')
})

test.each([
  [true, {}, '\u001b[31mx\u001b[39m'],
  [true, { NO_COLOR: '' }, '\u001b[31mx\u001b[39m'],
  [true, { NO_COLOR: '1' }, 'x'],
  [false, {}, 'x'],
])('colors text on a terminal unless NO_COLOR is set (%p, %j)', (isTTY, environment, expected) => {
  expect(colored({ ...process, environment }, { isTTY }, 'red', 'x')).toBe(expected)
})

test('a remedy quotes the store for the shell and repeats the options of the relay', async () => {
  const context = { parameters: { below: async () => [] }, flags: ' --local' } as unknown as Context
  const remedy = "create it: relay stores secret 'web shop' --local"
  await expect(feedSecretsOf(context, 'web shop', 'test the feed')).rejects.toThrow(remedy)
})

test('a new secret is the whole text of the command, and its explanation is separate', async () => {
  const parameters = { get: async () => undefined, put: async () => {}, writeIndex: async () => {} }
  const stores = () => [{ source: 'shop', feed: { http: 'https://shop.example/' } }]
  const context = { parameters, stores, flags: ' --local' } as unknown as Context
  const { data, text, about } = await setSecret(context, 'shop', {}, () => undefined)
  expect(text).toMatch(/^whsec_\S+$/)
  expect(data.secret).toBe(text)
  expect(about).toContain('The store "shop" verifies messages to https://shop.example/ with this secret')
})

test('a secret is replaced twice within a day only if the store is named, since the oldest one stops signing', async () => {
  const stored = new Map<string, string>()
  const parameters = {
    get: async (name: string) => stored.get(name),
    put: async (name: string, value: string) => void stored.set(name, value),
    below: async (folder: string) =>
      [...stored].map(([name, value]) => ({ name: name.slice(folder.length + 1), value })),
    writeIndex: async () => {},
  }
  const stores = () => [{ source: 'shop', feed: { http: 'https://shop.example/' } }]
  const context = { parameters, stores, flags: '' } as unknown as Context
  const asked: string[] = []
  const confirm = (action: string, name: string) => {
    asked.push(name)
    throw new Error(action)
  }
  for (let count = 1; count <= 2; count++) await setSecret(context, 'shop', {}, confirm)
  const before = new Map(stored)
  await expect(setSecret(context, 'shop', {}, confirm)).rejects.toThrow('would no longer sign the messages')
  expect(asked).toEqual(['shop'])
  expect(stored).toEqual(before)
})

test('an error of the local stack about its credentials is shown as it is, one of AWS with a remedy', () => {
  const error = Object.assign(new Error('use those in aws.env'), { name: 'UnrecognizedClientException' })
  const shown = (local: boolean) => explain(error, { local, title: 'order-relay-prod', flags: '' }).message
  expect(shown(true)).toBe('Cannot use the local stack: use those in aws.env')
  expect(shown(false)).toMatch(/^Cannot use AWS: use those in aws.env; sign in/)
})

test('maps the stack trace of a deployed bundle to the sources of this checkout', async () => {
  const { code } = await bundle('functions/webhook')
  const before = Buffer.from(code).toString().split('"delivery failed"')[0]?.split('\n') ?? []
  const frame = `    at f (file:///var/task/functions/webhook.mjs:${before.length}:${(before.at(-1)?.length ?? 0) + 1})`
  const shown = await toSource(`Error: x\n${frame}`)
  expect(shown).toMatch(/^Error: x\n {4}at f \(lib\/webhook\/handler\.ts:\d+:\d+\)$/)
})

describe('settings that must be consistent', () => {
  /** Those of serverless.yml. */
  const sound: Windows = {
    deliveryTtl: 30 * DAY,
    deadRetention: 14 * DAY,
    queueRetention: 14 * DAY,
    queueVisibility: 180,
    maxReceives: { 'orders.fifo': 200 },
    webhookTimeout: 9,
    workerTimeout: 30,
  }
  const RETRIES = 'deliveries are forgotten while the sender still retries'
  const REPLAYS = 'deliveries are forgotten while dead letters can still be replayed'
  const INVISIBLE = 'messages reappear while the worker still processes them'
  const ANSWERED = 'the sender gives up before the webhook function responds'
  const RECEIVES =
    'failing messages of orders.fifo become dead letters earlier or later than the template sets'
  const DEAD = 'failing messages of orders.fifo expire before they become dead letters'

  test.each<[Partial<Windows>, string[]]>([
    [{}, []],
    [{ deliveryTtl: 31 * HOUR }, [RETRIES, REPLAYS]],
    [{ deliveryTtl: 13 * DAY }, [REPLAYS]],
    [{ workerTimeout: 31 }, [INVISIBLE]],
    [{ webhookTimeout: 10 }, [ANSWERED]],
    [{ maxReceives: { 'orders.fifo': 1500 } }, [DEAD]],
    [{ maxReceives: { 'orders.fifo': undefined } }, [DEAD]],
    [{ maxReceives: { 'orders.fifo': 3 } }, [RECEIVES]],
  ])('with %j report the problems %j with remedies', (change, expected) => {
    const findings = windowFindings({ ...sound, ...change })
    expect(findings).toHaveLength(5)
    const problems = findings.filter(({ level }) => level === 'problem')
    expect(problems.map(({ check }) => textOf(check))).toEqual(expected)
    expect(findings.filter(({ remedy }) => remedy !== undefined)).toEqual(problems)
  })
})

describe('the log of the local stack', () => {
  const BEGIN = Date.parse('2026-11-21T12:00:00Z')
  const COUNT = 4000
  const minute = (index: number) => new Date(BEGIN + index * 60_000)

  /** One line per minute, enough for bisection; one line is longer than the read buffer. */
  const lineOf = (index: number) =>
    visible(
      JSON.stringify({
        level: 'INFO',
        message: index % 3 === 0 ? 'event processed' : 'delivery received',
        timestamp: minute(index),
        source: index % 2 === 0 ? 'api' : 'shop',
        external_id: `\u202eo-${index % 10}`,
        number: index,
        text: 'x'.repeat(index === 1500 ? 4_500_000 : 150),
      }),
    )
  const lines = Array.from({ length: COUNT }, (_, index) => `${lineOf(index)}\n{"_aws":{}}\nnot JSON\n`)
  const dataDir = mkdtempSync(join(tmpdir(), 'order-relay-log-'))
  writeFileSync(`${logFile(dataDir)}.old`, lines.slice(0, 1000).join(''))
  // The stack is writing the last line.
  writeFileSync(logFile(dataDir), `${lines.slice(1000).join('')}${lineOf(COUNT).slice(0, 100)}`)

  const context = { local: true, dataDir } as Context
  const numberOf = ({ fields }: LogLine) => Number(fields.number)
  const everything = lines.map((_, index) => index)
  const read = async (range: Omit<Parameters<typeof logOf>[1], 'follow'>) => {
    const found: number[] = []
    for await (const line of logOf(context, { ...range, follow: false })) found.push(numberOf(line))
    return found
  }

  test.each([0, 1000, 1501, COUNT])('is read from minute %d', async first => {
    const found = await read({ since: minute(first) })
    expect(found).toEqual(everything.slice(first))
    const newest = { since: minute(first), fields: { source: ['api', 'shop'] } }
    expect(await newestOf(context, newest, COUNT, numberOf)).toEqual(found.toReversed())
  })

  test('returns the newest lines with a message and fields, and one more than requested', async () => {
    const fields = { external_id: ['\u202eo-3', '\u202eo-4'], source: ['shop'] }
    const newest = { since: minute(500), messages: ['event processed'], fields }
    const expected = everything.filter(each => each >= 500 && each % 3 === 0 && each % 10 === 3).toReversed()
    expect(await newestOf(context, newest, COUNT, numberOf)).toEqual(expected)
    expect(await read(newest)).toEqual(expected.toReversed())
    expect(await newestOf(context, newest, 2, numberOf)).toEqual(expected.slice(0, 3))
    const odd = (line: LogLine) => (numberOf(line) % 100 === 3 ? numberOf(line) : undefined)
    const two = expected.filter(each => each % 100 === 3).slice(0, 2)
    expect(await newestOf(context, newest, 1, odd)).toEqual(two)
  })
})
