import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { MAX_BODY_BYTES } from '../../lib/body.ts'
import { verify } from '../../lib/protocol/signature.ts'
import { HEADERS } from '../../lib/protocol/webhook.ts'
import { ANSWERS, complaintsOfAnswers } from '../../proof/flood/answers.ts'
import { arrivalsOf } from '../../proof/flood/arrivals.ts'
import { drawer, type Job } from '../../proof/flood/draw.ts'
import { complaintsOfMemory, memoryOf } from '../../proof/flood/memory.ts'
import { changesOf, idOf, KINDS, livesOf, mixOf, type Plan, resultOf } from '../../proof/flood/plan.ts'
import { signedRequest } from '../../proof/flood/request.ts'

const plan: Plan = { seed: 7, deliveries: 1000, sources: ['api', 'demo-shop'] }

/** Everything that a plan sends, each answered at once. */
const drawn = () => {
  const draw = drawer(plan, () => 0)
  const jobs: Job[] = []
  for (let job = draw(); job !== undefined; job = draw()) {
    jobs.push(job)
    job.answered()
  }
  return jobs
}

test('a small flood arrives whole, and leaves nothing behind', async () => {
  const place = await mkdtemp(join(tmpdir(), 'order-relay-'))
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        join(import.meta.dirname, '../../proof/flood.ts'),
        ...['--deliveries', '200', '--seed', '3', '--no-document'],
      ],
      { env: { ...process.env, TMPDIR: place, TEMP: place } },
    )
    expect(stdout).toContain('Every one of these held')
    expect(stdout).toContain('120 of 120')
    expect(await readdir(place)).toEqual([])
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}, 60_000)

test('what is drawn is what the plan says, and each kind is what it is called', () => {
  const jobs = drawn()
  const mix = mixOf(plan)
  for (const kind of KINDS) {
    const times = kind === 'twin' ? 2 : 1
    expect([kind, times * jobs.filter(job => job.kind === kind).length]).toEqual([kind, mix[kind]])
  }
  expect(Object.values(mix).reduce((sum, count) => sum + count)).toBe(plan.deliveries)

  const now = 1_800_000_000
  for (const job of jobs) {
    const { body, headers } = signedRequest(job, 'secret', now)
    const verdict = verify({ header: headers[HEADERS.signature], body, secrets: ['secret'], now })
    const [due] = ANSWERS[job.kind]
    expect([job.kind, verdict.valid]).toEqual([job.kind, due !== '401 unauthorized'])
    expect([job.kind, body.byteLength > MAX_BODY_BYTES]).toEqual([job.kind, job.kind === 'oversized'])
  }
})

/** The feed messages of a whole plan, order by order. */
const told = () =>
  [...livesOf(plan)].flatMap((length, order) =>
    Array.from({ length }, (_, step) => {
      const delivery = idOf(plan, 'change', order, step)
      const data = { ...resultOf(plan, order, step), sent_at: 1 }
      return {
        event: 'order.updated',
        data,
        delivery,
        version: step + 1,
        cause: { event: 'order.updated', delivery },
      }
    }),
  )
type Message = ReturnType<typeof told>[number]

const complaintsOf = (messages: readonly Message[], feedOf = (message: Message) => message.data.source) => {
  const arrivals = arrivalsOf(plan, () => 2)
  for (const message of messages) arrivals.hear(feedOf(message), JSON.stringify(message))
  return arrivals.complaints()
}

test('a feed that tells everything once and in order is in order', () => {
  expect(told()).toHaveLength(changesOf(plan))
  expect(complaintsOf(told())).toEqual([])
})

/** The place of a message that has another one of its order behind it. */
const early = told().findIndex(({ version }, at) => version === 1 && told()[at + 1]?.version === 2)
const change = (at: number, changed: (message: Message) => Message) =>
  told().map((message, index) => (index === at ? changed(message) : message))

test.each<[string, readonly Message[]]>([
  ['one that is missing', told().toSpliced(early, 1)],
  ['the very last one missing', told().slice(0, -1)],
  ['one told twice', told().toSpliced(early, 0, ...told().slice(early, early + 1))],
  ['one told again at the end', [...told(), ...told().slice(early, early + 1)]],
  [
    'two of one order exchanged',
    told().toSpliced(
      early,
      2,
      ...told()
        .slice(early, early + 2)
        .reverse(),
    ),
  ],
  ['a version left out', change(early, message => ({ ...message, version: 2 }))],
  ['another status', change(early, message => ({ ...message, data: { ...message.data, status: 'lost' } }))],
  ['a forged one', change(early, message => ({ ...message, delivery: idOf(plan, 'stale', 1) }))],
  [
    'an order that nobody sent',
    change(early, message => ({ ...message, data: { ...message.data, external_id: 'x' } })),
  ],
])('a feed is found out: %s', (_name, messages) => {
  expect(complaintsOf(messages)).not.toEqual([])
})

test('a feed is found out: that of another store', () => {
  expect(complaintsOf(told(), () => 'api')).not.toEqual([])
})

/** What a relay tells that does as it should; of the twins every second is a duplicate. */
const asDue = () => {
  const mix = mixOf(plan)
  const answers: Record<string, number> = {}
  for (const kind of KINDS) answers[`${kind}: ${ANSWERS[kind][0]}`] = mix[kind]
  answers['twin: 200 queued'] = mix.twin / 2
  answers['twin: 200 duplicate'] = mix.twin / 2
  const calls: Record<string, number> = { 'receiver GetParametersByPath first': 2 }
  for (const kind of ['first', 'twin'] as const) {
    const queued = kind === 'twin' ? mix.twin / 2 : mix.first
    calls[`receiver GetItem ${kind}`] = mix[kind]
    calls[`receiver SendMessage ${kind}`] = queued
    calls[`receiver PutItem ${kind}`] = queued
  }
  calls['receiver GetItem duplicate'] = mix.duplicate
  return { answers, calls, unavailable: 0, receivers: 2, seconds: 10 }
}

test('answers and calls that are as due are in order', () => {
  expect(complaintsOfAnswers(plan, asDue())).toEqual([])
})

test.each([
  ['a forgery that costs a call', 'receiver GetItem bad-signature', 1],
  ['a foreign order that is looked up', 'receiver GetItem foreign', 1],
  ['something oversized that is put on the line', 'receiver SendMessage oversized', 1],
  ['a duplicate that is recorded again', 'receiver PutItem duplicate', 1],
  ['a first one that is not recorded', 'receiver PutItem first', 5],
  ['secrets that are read for each forgery', 'receiver GetParametersByPath bad-signature', 40],
  ['a question to the accounting service', 'worker accounting -', 1],
])('calls are found out: %s', (_name, call, count) => {
  const told = asDue()
  expect(complaintsOfAnswers(plan, { ...told, calls: { ...told.calls, [call]: count } })).not.toEqual([])
})

test('answers are found out: a forgery that is let in', () => {
  const told = asDue()
  const answers = { ...told.answers, 'stale: 401 unauthorized': 29, 'stale: 200 queued': 1 }
  expect(complaintsOfAnswers(plan, { ...told, answers })).not.toEqual([])
})

test('memory that grows is seen, and what loading takes is not taken for growth', () => {
  const complaints = (live: number[], resident = [1]) =>
    complaintsOfMemory([memoryOf({ name: 'worker 1', resident, live })])
  const flat = Array.from({ length: 400 }, (_, at) => (at < 80 ? at : 80))
  const growing = Array.from({ length: 400 }, (_, at) => 100 + at)
  expect(complaints(flat)).toEqual([])
  expect(complaints(growing)).toEqual(['The memory of the worker 1 grew by 80 %'])
  expect(complaints(growing.slice(0, 20))).toEqual([])
  expect(complaints(flat, [600 * 2 ** 20])).toEqual(['The worker 1 took 600 MiB of memory'])
})
