// The receiver and the worker in a process of their own, so that their memory can be observed.

import type { SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import { QUEUES } from '../../lib/platform/names.ts'
import type { Telemetry } from '../../lib/platform/telemetry.ts'
import { startEventSource } from '../../local/event-source.ts'
import { queueArn, queueUrl, REGION, urlOf } from '../../local/settings.ts'
import { BUGS } from '../crash/bugs.ts'
import { plant } from '../crash/plant.ts'
import { backendClients } from './backends.ts'

const port = v.number()
const settings = v.object({
  ports: v.object({
    ...{ relay: port, lambda: port, sandbox: port, dynamodb: port, sqs: port, ssm: port },
  }),
  /** URLs of the proxies that count calls, by link and port. */
  proxies: v.record(v.string(), v.string()),
  /** The name of a bug to plant. */
  bug: v.optional(v.string()),
})
export type FloodSettings = v.InferInput<typeof settings>

/** What this process tells its parent. */
export type FloodMessage = { webhookPort: number; secret: string } | { heap: number } | { failure: string }

const tell = (message: FloodMessage) => process.send?.(message)
const { ports, proxies, bug: name } = v.parse(v.pipe(v.string(), v.parseJson(), settings), process.argv[2])
const HEAP_EVERY_MS = 2000

const telemetry: Telemetry = {
  info: () => undefined,
  warn: message => tell({ failure: message }),
  error: (message, error) => tell({ failure: `${message}: ${error}` }),
  count: () => undefined,
  seconds: () => undefined,
}

const bug = BUGS.find(each => each.name === name)
if (name !== undefined && bug === undefined) throw new Error(`Cannot plant "${name}": see test/crash/bugs.ts`)
const module = import.meta.resolve('./relay.ts')
const { startRelay } = (await (bug === undefined
  ? import(module)
  : plant(bug)(module))) as typeof import('./relay.ts')

const backends = backendClients(ports)
const relay = await startRelay({
  backends,
  through: async (link, to) => proxies[`${link} ${to}`] ?? urlOf(to),
  webStore: 0,
  telemetry,
})
startEventSource({
  sqs: backends.sqs,
  queue: { url: queueUrl(ports.sqs, QUEUES.orders), arn: queueArn(QUEUES.orders), region: REGION },
  batchSize: 10,
  reportsFailures: true,
  invoke: async event => relay.workers[0]?.(event as SQSEvent),
  onError: error => tell({ failure: String(error) }),
})
setInterval(() => {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  tell({ heap: heapUsed + external })
}, HEAP_EVERY_MS)
process.on('disconnect', () => process.exit())
tell({ webhookPort: relay.webhookPort, secret: relay.secret })
