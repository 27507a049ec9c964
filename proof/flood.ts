import { writeFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { readStores } from '../deploy/stores.ts'
import { document } from './flood/document.ts'
import { flood } from './flood/run.ts'

const DOCUMENT = new URL('../docs/flood.md', import.meta.url)
const STORES = new URL('../stores.yml', import.meta.url)

const USAGE = `Floods a relay of several processes and verifies that every change arrived; writes docs/flood.md.

  --deliveries N   how many are sent, whatever becomes of them (default: 100000)
  --seed N         what is sent follows from it (default: 1)
  --receivers N    processes of the webhook function (default: 2)
  --workers N      processes of the worker (default: 1)
  --lanes N        requests under way at once (default: 8)
  --backlog N      the sender rests while more wait on the order line (default: 200)
  --minutes N      it is broken off after so long (default: 40)
  --no-document    leave docs/flood.md as it is
  --help           this text
`

const { values } = parseArgs({
  options: {
    deliveries: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    receivers: { type: 'string', default: '2' },
    workers: { type: 'string', default: '1' },
    lanes: { type: 'string', default: '8' },
    backlog: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '40' },
    document: { type: 'boolean', default: true },
    help: { type: 'boolean', default: false },
  },
  allowNegative: true,
})

const number = (name: 'deliveries' | 'seed' | 'receivers' | 'workers' | 'lanes' | 'backlog' | 'minutes') => {
  if (/^[1-9]\d{0,8}$/.test(values[name])) return Number(values[name])
  throw new Error(`Cannot flood: --${name} is "${values[name]}"; give a whole number from 1 on`)
}

const LINE_EVERY_MS = 5000
let toldAt = 0
/** On a terminal one line that changes, elsewhere a line now and then. */
const progress = (line: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`)
  else if (Date.now() - toldAt > LINE_EVERY_MS) {
    toldAt = Date.now()
    process.stderr.write(`${line}\n`)
  }
}

const main = async (): Promise<readonly string[]> => {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stop.abort(new Error('Stopped')))
  }
  const deliveries = number('deliveries')
  const sources = readStores(STORES.pathname).flatMap(({ source, feed }) => (feed === 'sqs' ? [source] : []))
  const options = {
    plan: { seed: number('seed'), deliveries, sources },
    receivers: number('receivers'),
    workers: number('workers'),
    lanes: number('lanes'),
    backlog: number('backlog'),
    minutes: number('minutes'),
    signal: stop.signal,
    progress,
  }
  const [loadBefore = 0] = loadavg()
  const flooded = await flood(options)
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  const text = document(options, flooded, loadBefore)
  process.stdout.write(text)
  if (values.document) await writeFile(DOCUMENT, text)
  return flooded.problems
}

if (values.help) process.stdout.write(USAGE)
else {
  const problems = await main().catch((error: unknown) => [
    error instanceof Error ? error.message : String(error),
  ])
  for (const problem of problems) process.stdout.write(`✗ ${problem}\n`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
