import { randomUUID } from 'node:crypto'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { awsEnvironment } from '@order-relay/local/credentials.ts'
import { freePorts } from '@order-relay/local/ports.ts'
import { isRunnable } from '@order-relay/test-support/examples.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { CREDENTIALS, createQueue, type Parts, startParts } from '@order-relay/test-support/parts.ts'
import { ROOT } from '@order-relay/test-support/project.ts'
import { play } from '../../conformance/play.ts'
import { sqsFeed } from '../../conformance/sqs-feed.ts'
import { storeProcess } from '../../conformance/store-process.ts'
import { programsOf } from '../../stores/programs.ts'
import { findingsAt, SECRET, terminal } from './support.ts'

let parts: Parts
const folder = useFolder(() => parts.close())
beforeAll(async () => {
  parts = await startParts()
})

const stores: { kill(): Promise<void> }[] = []
afterAll(() => Promise.all(stores.map(store => store.kill())))

const PROGRAMS = ['node store.mjs', 'python3 store.py']

/** The programs as `relay stores show` prints them, in a project that has the packages. */
const started = async (command: string, feed: 'sqs' | { http: string; disable_after: number }) => {
  const path = folder(randomUUID())
  mkdirSync(path)
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'))
  const queueUrl = await createQueue(parts.sqs, `feed-${randomUUID()}.fifo`)
  for (const [file, text] of Object.entries(programsOf({ feed, exact: true }, queueUrl))) {
    expect(text).not.toMatch(/version|relay\.test/)
    // Undeleted messages return after a second.
    writeFileSync(join(path, file), text.replace(/(VISIBILITY_SECONDS|MAX_DELAY) = \d+/g, '$1 = 1'))
  }
  const { relay: port } = await freePorts()
  const [program = '', file = ''] = command.split(' ')
  const store = storeProcess([program === 'node' ? process.execPath : program, join(path, file)], {
    ...process.env,
    ...awsEnvironment(parts.ports, CREDENTIALS),
    DATABASE: join(path, 'handled'),
    FEED_SECRET: SECRET,
    PORT: String(port),
  })
  stores.push(store)
  const about = { source: 'old-shop', exact: true, wait: 20, store, handled: store.output }
  return { about, url: `http://127.0.0.1:${port}/`, queueUrl }
}

test.each(PROGRAMS.filter(command => isRunnable(command)))(
  '"%s" for an exact store with an HTTP feed passes every check that applies',
  async command => {
    const { about, url } = await started(command, { http: 'https://shop.example/', disable_after: 60 })
    const findings = await findingsAt(url, about)
    expect(findings.filter(({ level }) => level === 'problem')).toEqual([])
    expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(['signatures', 'kills']))
  },
)

test.each(PROGRAMS.filter(command => isRunnable(command.replace('store', 'sqs'))))(
  '"%s" for an exact store with an SQS feed passes every check that applies',
  async command => {
    const { about, queueUrl } = await started(command, 'sqs')
    const findings = await play({ ...about, terminal, ...sqsFeed({ sqs: parts.sqs, queueUrl, wait: 20 }) })
    expect(findings.filter(({ level }) => level === 'problem')).toEqual([])
    expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(['duplicates', 'kills']))
  },
)
