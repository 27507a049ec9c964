import { join } from 'node:path'
import { ENVIRONMENT_FILE } from './credentials.ts'
import { givenArguments, readFlags } from './flags.ts'
import { onNpmExit } from './parent.ts'
import { ADDRESSES, queueUrl, settingsFrom } from './settings.ts'
import { startStack } from './stack.ts'

const USAGE = `Starts the relay, its console and a sandbox of the accounting service on this machine.

  --verbose   show the unformatted output of all of them
  --help      show this help

Variables:

${Object.values(ADDRESSES)
  .map(({ variable, port }) => `  ${variable.padEnd(17)}   port on 127.0.0.1 (default: ${port})\n`)
  .join('')}\
  ORDER_RELAY_DATA    directory of the data (default: .order-relay)
  ORDER_RELAY_WATCH   false to ignore changes of the source and of stores.yml
`

const OPTIONS = {
  verbose: { type: 'boolean', short: 'v' },
  help: { type: 'boolean', short: 'h' },
} as const

const { has } = givenArguments(args => {
  const read = readFlags('start', args, OPTIONS)
  const [other] = read.positionals
  if (other === undefined) return read
  throw new Error(`Cannot start: "${other}" is not an option; see npm start -- --help`)
})

const CLEAR = '\r\u001b[K'

/** Shows the pending components on standard error; on a terminal, on one line that is cleared for other output. */
const startProgress = ({ stderr }: NodeJS.Process) => {
  const began = performance.now()
  let text = ''
  const draw = () => {
    if (text !== '' && stderr.isTTY)
      stderr.write(`${CLEAR}${text} (${Math.round((performance.now() - began) / 1000)} s)`)
  }
  const timer = setInterval(draw, 1000).unref()
  const clear = () => void (text !== '' && stderr.isTTY && stderr.write(CLEAR))
  return {
    around: (write: () => unknown) => {
      clear()
      write()
      draw()
    },
    show: (waiting: readonly string[]) => {
      text = waiting.length === 0 ? text : `Starting: waiting for the ${waiting.join(', the ')}`
      if (stderr.isTTY) draw()
      else if (waiting.length > 0) stderr.write(`${text}\n`)
    },
    end: () => {
      clearInterval(timer)
      clear()
      text = ''
    },
  }
}

const progress = startProgress(process)
const say = (line: string) => progress.around(() => process.stdout.write(`${line}\n`))
const fail = (message: string) => {
  progress.end()
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}

const main = async () => {
  if (has('help')) return void process.stdout.write(USAGE)

  const stopping = new AbortController()
  const stop = () => stopping.abort()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)
  // The reader of the output has exited, as with `npm start | head`.
  process.stdout.on('error', stop)
  await onNpmExit(stop)

  const { signal } = stopping
  const asked = new Promise<undefined>(resolve => signal.addEventListener('abort', () => resolve(undefined)))
  try {
    const settings = settingsFrom(process.env)
    const stack = await startStack({
      ...settings,
      verbose: has('verbose'),
      print: say,
      signal,
      withConsole: true,
      onProgress: progress.show,
      onNextConsoleUrl: url => say(`console | for another session: ${url}`),
    })
    progress.end()
    const { relay, sandbox } = stack.urls
    const feeds = queueUrl(settings.ports.sqs, 'feed-<source>.fifo')
    say(
      `ready: console ${stack.consoleUrl()}
       sandbox panel ${sandbox}/
       relay ${relay}
       feeds ${feeds} with the credentials in ${join(settings.dataDir, ENVIRONMENT_FILE)}`,
    )
    const broken = await Promise.race([stack.broken, asked])
    await stack.stop()
    if (broken === undefined) say(`stopped; data kept in ${settings.dataDir}`)
    else fail(`Stopped: ${broken}`)
  } catch (error) {
    if (!signal.aborted) fail(error instanceof Error ? error.message : String(error))
  }
}

await main()
process.exit()
