import { parseArgs } from 'node:util'
import { onNpmGone } from './ancestors.ts'
import { ACCOUNT_ID } from './intrinsics.ts'
import { settingsFrom } from './settings.ts'
import { startStack } from './stack.ts'

const USAGE = `Starts the relay and a sandbox of the accounting service on this machine.

  --verbose   show everything that the parts print
  --help      this text
`

const say = (line: string) => process.stdout.write(`${line}\n`)
const fail = (message: string) => {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}

const main = async () => {
  const { values } = parseArgs({
    options: {
      verbose: { type: 'boolean', short: 'v', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return void process.stdout.write(USAGE)

  const stopping = new AbortController()
  const stop = () => stopping.abort()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)
  // Nobody reads any more, as after `npm start | head`.
  process.stdout.on('error', stop)
  await onNpmGone(stop)

  const { signal } = stopping
  const asked = new Promise<undefined>(resolve => signal.addEventListener('abort', () => resolve(undefined)))
  try {
    const stack = await startStack({
      ...settingsFrom(process.env),
      verbose: values.verbose,
      print: say,
      signal,
    })
    const { relay, sandbox, sqs } = stack.urls
    say(`ready: relay ${relay}, sandbox panel ${sandbox}/, feeds ${sqs}/${ACCOUNT_ID}/feed-<source>.fifo`)
    const broken = await Promise.race([stack.broken, asked])
    await stack.stop()
    if (broken !== undefined) fail(`Stopped, since ${broken}`)
  } catch (error) {
    if (!signal.aborted) fail(error instanceof Error ? error.message : String(error))
  }
}

await main()
process.exit()
