import { writeFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import { logFile } from '@order-relay/local/log.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { textOf } from '../core/coded.ts'
import type { Context } from '../core/context.ts'
import { findingText } from '../core/output.ts'
import { signaturesOf } from '../status/notices.ts'
import { openRefusals, type Refusals, refusalFinding, refusalsIn, refusalsOf } from '../status/refusals.ts'

/** A time, in minutes. */
const at = (minutes: number) => new Date(Date.UTC(2026, 10, 27, 10, 0, minutes * 60))
const times = (...minutes: number[]) => minutes.map(at)

test.each<
  [
    string,
    { refused: Date[]; accepted?: Date; stored: Date[] },
    Omit<Refusals, 'accepted' | 'stored' | 'times'> | undefined,
  ]
>([
  ['no webhook is refused', { refused: [], accepted: at(1), stored: times(0) }, undefined],
  [
    'all are refused since the last accepted one',
    { refused: times(5, 3, 4), accepted: at(2), stored: times(0) },
    { since: at(3), until: at(5), state: 'unknown' },
  ],
  [
    'none was ever accepted',
    { refused: times(3, 5), stored: times(0) },
    { since: at(3), until: at(5), state: 'unknown' },
  ],
  [
    'one has a valid signature again',
    { refused: times(3, 5), accepted: at(6), stored: times(0) },
    { since: at(3), until: at(5), state: 'over' },
  ],
  [
    'a new secret is stored, and no webhook has arrived since',
    { refused: times(3, 5), accepted: at(2), stored: times(0, 6) },
    { since: at(3), until: at(5), state: 'over' },
  ],
  [
    'the secret is replaced once more',
    { refused: times(3, 5, 9), accepted: at(2), stored: times(6) },
    { since: at(9), until: at(9), state: 'unknown' },
  ],
  [
    'the functions have not read the new secret yet that ends it',
    { refused: times(3, 5, 6.5), accepted: at(2), stored: times(0, 6) },
    { since: at(3), until: at(6.5), state: 'unproven' },
  ],
  [
    'the functions may not have read a new secret yet',
    { refused: times(0.1, 1), stored: times(0) },
    { since: at(0.1), until: at(1), state: 'unproven' },
  ],
  [
    'one is accepted after refusals until the functions read a new secret',
    { refused: times(0.1, 1), accepted: at(1.1), stored: times(0) },
    undefined,
  ],
])('derives from refused webhooks whether the secret is unknown: %s', (_, given, expected) => {
  const { refused, accepted, stored } = given
  const times = expect.any(Array)
  expect(refusalsIn(refused, accepted, stored)).toEqual(
    expected && { ...expected, accepted, stored: stored.at(-1), times },
  )
})

const flags = ' --local'
const wordsOf = (refusals: Omit<Refusals, 'times'>) => {
  const { level, found, remedy } = refusalFinding({ flags }, refusals)
  return [level, ...[found, remedy].map(text => (typeof text === 'object' ? text.text : text))]
}

test('the finding says since when webhooks are refused, and names the remedy', () => {
  const refusals: Omit<Refusals, 'times'> = { since: at(3), until: at(5), accepted: at(2), state: 'unknown' }
  expect(wordsOf(refusals)).toEqual([
    'problem',
    'refused since 2026-11-27T10:03:00.000Z, the last one at 2026-11-27T10:05:00.000Z; the last one with a valid signature at 2026-11-27T10:02:00.000Z',
    expect.stringMatching(/: relay register --again --local$/),
  ])
  expect(wordsOf({ ...refusals, accepted: undefined })[1]).toMatch(
    /; none with a valid signature in the last 24 hours$/,
  )
})

test('the finding about a single refused webhook states its time once', () => {
  const once: Omit<Refusals, 'times'> = { since: at(3), until: at(3), accepted: at(2), state: 'unknown' }
  expect([wordsOf(once)[1], wordsOf({ ...once, accepted: at(6), state: 'over' })[1]]).toEqual([
    'one refused, at 2026-11-27T10:03:00.000Z; the last one with a valid signature at 2026-11-27T10:02:00.000Z',
    'refused at 2026-11-27T10:03:00.000Z; orders that changed then may lag behind the service',
  ])
})

test('after the repair, the finding says that orders may lag', () => {
  expect(wordsOf({ since: at(3), until: at(5), accepted: at(6), state: 'over' })).toEqual([
    'note',
    'refused from 2026-11-27T10:03:00.000Z to 2026-11-27T10:05:00.000Z; orders that changed then may lag behind the service',
    expect.stringMatching(/: relay audit --since 24h --repair --local$/),
  ])
})

test('while the relay may not know a new secret, the finding says that webhooks may still be refused', () => {
  const refusals: Omit<Refusals, 'times'> = {
    since: at(3),
    until: at(5),
    accepted: at(2),
    stored: at(5),
    state: 'over',
  }
  const checkAt = (now: Date, accepted = refusals.accepted) => {
    const { check, found } = refusalFinding({ flags }, { ...refusals, accepted }, now.getTime())
    return [check, found].map(text => (typeof text === 'object' ? text.text : text))
  }
  expect(checkAt(at(6))).toEqual([
    'webhooks may still be refused for their signature',
    'a new secret was stored at 2026-11-27T10:05:00.000Z, and the whole relay knows it by 2026-11-27T10:06:10.000Z; refused from 2026-11-27T10:03:00.000Z to 2026-11-27T10:05:00.000Z; orders that changed then may lag behind the service',
  ])
  for (const over of [checkAt(at(7)), checkAt(at(6), at(5.5))])
    expect(over[0]).toBe('webhooks were refused for their signature')
})

/** A time of day. */
const clock = (time: string) => new Date(`2026-11-27T${time}Z`)
const clocks = (...given: string[]) => given.map(clock)

/** The findings at given times of day, from the webhooks that have arrived by then. */
const findingsAt =
  (refused: readonly Date[], accepted: Date | undefined, stored: Date, isAudited = (_: Date) => false) =>
  (time: string) => {
    const now = clock(time)
    const arrived = refused.filter(each => each <= now)
    const refusals = refusalsIn(arrived, accepted && accepted <= now ? accepted : undefined, [stored])
    const open = refusals && openRefusals(refusals, isAudited)
    if (open === undefined) return undefined
    const { check, found, remedy } = refusalFinding({ flags }, open, Number(now))
    return [check, found, remedy].map(text => textOf(text ?? '')).join(': ')
  }

test('refusals before the whole relay knows a new secret are reported immediately, and later ones with the time of the first refusal', () => {
  const refused = clocks('15:55:21.135', '15:55:26', '15:55:56', '15:57:56.524')
  const found = findingsAt(refused, clock('15:54:33.440'), clock('15:54:56'))
  expect(found('15:55:28')).toMatch(
    /^webhooks may still be refused .*: a new secret was stored at \S+T15:54:56.000Z, and the whole relay knows it by \S+T15:56:06.000Z; refused from \S+T15:55:21.135Z to \S+T15:55:26.000Z; /,
  )
  expect(found('15:56:33')).toMatch(
    /^webhooks may still be refused .* the whole relay has known it since \S+T15:56:06.000Z; refused from \S+T15:55:21.135Z to \S+T15:55:56.000Z; .*The next webhook shows whether the service signs with this secret: /,
  )
  expect(found('15:58:00')).toMatch(
    /^webhooks are refused .*: refused since \S+T15:55:21.135Z, the last one at \S+T15:57:56.524Z; the last one with a valid signature at \S+T15:54:33.440Z: .*relay register --again --local$/,
  )
})

test('refusals after an accepted webhook are reported with the time of the first of them, even if webhooks were refused before it', () => {
  const before = ['15:59:32.225', '16:00:26']
  const refused = clocks(...before, '16:01:18', '16:01:23.261', '16:01:53', '16:02:40.547')
  const audited = (time: Date) => time <= clock('16:00:00')
  const found = findingsAt(refused, clock('16:01:17'), clock('16:01:13'), audited)
  expect(found('16:01:30')).toMatch(
    /^webhooks may still be refused .*; refused from \S+T16:01:18.000Z to \S+T16:01:23.261Z; /,
  )
  expect(found('16:02:30')).toMatch(/ The next webhook shows /)
  expect(found('16:02:41')).toMatch(
    /^webhooks are refused .*: refused since \S+T16:01:18.000Z, the last one at \S+T16:02:40.547Z; the last one with a valid signature at \S+T16:01:17.000Z: /,
  )
})

test('an audit does not end the finding while the service may sign with another secret', () => {
  const found = findingsAt(clocks('16:01:18'), clock('16:01:17'), clock('16:01:13'), () => true)
  expect(found('16:02:30')).toMatch(/^webhooks may still be refused .*; refused at \S+T16:01:18.000Z; /)
})

test('after an audit, the finding no longer says that orders may lag, and suggests no other audit', () => {
  const found = (isAudited: boolean) =>
    findingsAt(clocks('16:01:18'), clock('16:01:17'), clock('16:01:13'), () => isAudited)('16:02:30')
  expect(found(false)).toMatch(
    / orders that changed then may lag .*: relay audit --since 24h --repair --local$/,
  )
  expect(found(true)).toMatch(
    /; an audit has compared the orders since\. The next webhook shows whether the service signs with this secret: $/,
  )
})

test('webhooks refused before a secret was stored may still be refused until the whole relay knows it', () => {
  const found = findingsAt(clocks('16:00:10', '16:00:40'), clock('16:00:00'), clock('16:01:00'))
  expect(found('16:02:09')).toMatch(
    /^webhooks may still be refused .* knows it by \S+T16:02:10.000Z; refused from \S+T16:00:10.000Z to \S+T16:00:40.000Z; /,
  )
  expect(found('16:02:11')).toMatch(
    /^webhooks were refused .*: refused from \S+T16:00:10.000Z to \S+T16:00:40.000Z; /,
  )
})

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
const line = (minutes: number, fields: object) =>
  JSON.stringify({
    level: 'INFO',
    message: 'delivery received',
    timestamp: minutesAgo(minutes).toISOString(),
    ...fields,
  })
const forged = (minutes: number, why: string) => line(minutes, { outcome: 'forged', why })
const minutes = (time: Date | undefined) => time && Math.round((Date.now() - time.getTime()) / 60_000)

const folder = useFolder()

test('reads refused webhooks from the log, and ignores what the relay itself has signed', async () => {
  const dataDir = folder()
  const logged = [
    line(20, { outcome: 'queued', source: 'api' }),
    forged(15, 'malformed'),
    forged(12, 'mismatch'),
    line(11, { outcome: 'ignored', why: 'probe' }),
    line(10, { outcome: 'queued', source: 'relay-probe' }),
    forged(9, 'mismatch'),
    forged(8, 'stale'),
  ]
  await writeFile(logFile(dataDir), `${logged.join('\n')}\n`)
  const context = { local: true, dataDir } as unknown as Context
  const found = await refusalsOf(context, [minutesAgo(60)])
  expect([found?.state, minutes(found?.since), minutes(found?.until), minutes(found?.accepted)]).toEqual([
    ...['unknown', 12, 9, 20],
  ])
})

test('on AWS, tells the last refused webhook from accepted ones, and reads no more of the log than needed', async () => {
  const logged = [
    [700, line(700, { outcome: 'queued', source: 'api' })],
    [30, forged(30, 'mismatch')],
    [12, forged(12, 'stale')],
    [2, line(2, { outcome: 'queued', source: 'api' })],
  ] as const
  const patterns: (string | undefined)[] = []
  const read: number[] = []
  const aws = {
    cloudWatch: async () => ({
      async *paginateGetMetricData() {
        yield { MetricDataResults: [{ Id: 'q0', Timestamps: [new Date()], Values: [2] }] }
      },
    }),
    logs: async () => ({
      async *paginateFilterLogEvents({
        startTime,
        filterPattern,
      }: {
        startTime: number
        filterPattern: string
      }) {
        patterns.push(/\) && .*$/.exec(filterPattern)?.[0])
        // Like an emulator, which does not evaluate patterns.
        const found = logged.filter(([age]) => Number(minutesAgo(age)) >= startTime)
        read.push(found.length)
        yield { events: found.map(([age, message]) => ({ timestamp: Number(minutesAgo(age)), message })) }
      },
    }),
  }
  const context = {
    local: false,
    aws,
    service: 'order-relay-production',
    stack: async () => ({
      functions: { webhook: { name: 'order-relay-production-webhook' } },
    }),
  } as unknown as Context
  const found = await refusalsOf(context, [])
  expect([minutes(found?.until), minutes(found?.invalid), minutes(found?.accepted)]).toEqual([30, 12, 2])
  expect([patterns, read]).toEqual([
    [') && ($.why = "mismatch") }', undefined, ') && ($.outcome = "forged") }'],
    [4, 2, 2],
  ])
})

const secretsOf = (name: string) => ({
  below: async (folder: string) =>
    folder === PARAMETERS.webhookSecrets ? [{ name, value: 's', modified: minutesAgo(60) }] : [],
})

test('after an audit, the finding begins with the first webhook that was refused since', async () => {
  const dataDir = folder()
  const logged = [
    forged(30, 'mismatch'),
    forged(12, 'mismatch'),
    line(2, { outcome: 'queued', source: 'api' }),
  ]
  await writeFile(logFile(dataDir), `${logged.join('\n')}\n`)
  const url = 'http://127.0.0.1/webhook'
  const context = {
    local: true,
    dataDir,
    flags,
    nameOf: () => '',
    parameters: secretsOf('sandbox'),
    stack: async () => ({ webhookUrl: url }),
    dynamodb: { paginateQuery: async function* () {} },
  } as unknown as Context
  const notices = async (audited: number) => {
    const audit = { since: minutesAgo(60), until: minutesAgo(audited) }
    const found = await signaturesOf(context, audit, url)
    return found.notices.map(({ found }) => textOf(found))
  }
  const refused = (age: number) =>
    expect.stringMatching(new RegExp(`^refused (from|at) ${minutesAgo(age).toISOString().slice(0, 15)}`))
  expect(await notices(40)).toEqual([refused(30)])
  expect(await notices(20)).toEqual([refused(12)])
  expect(await notices(10)).toEqual([])
})

test('while no secret is stored for the webhook URL, the only finding is that it is not registered', async () => {
  const dataDir = folder()
  await writeFile(logFile(dataDir), `${forged(12, 'mismatch')}\n`)
  const url = 'http://127.0.0.1/webhook'
  const context = {
    local: true,
    dataDir,
    flags,
    parameters: { ...secretsOf('of-another-url'), get: async () => undefined },
    stack: async () => ({ webhookUrl: url }),
  } as unknown as Context
  const { notices, missing } = await signaturesOf(context)
  expect(missing).toMatchObject({ cause: { code: 'webhook-unregistered' } })
  expect(notices.map(findingText)).toEqual([
    `!!    the webhook is not registered: no secret is stored for ${url}; the scheduled checks find only changes of unsettled orders\n      → relay register --url '${url}' --local`,
  ])
})
