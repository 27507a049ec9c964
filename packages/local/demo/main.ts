import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual, styleText } from 'node:util'
import { credentialsIn } from '../credentials.ts'
import { freePorts } from '../ports.ts'
import { type Stack, startStack } from '../stack.ts'
import { SOURCE } from './acts.ts'
import { partiesOf } from './parties.ts'
import { story } from './story.ts'

const say = (line: string) => process.stdout.write(`${line}\n`)

/** Runs the story; returns the failed step, or undefined. */
const play = async (stack: Stack): Promise<string | undefined> => {
  const parties = partiesOf(stack.urls, SOURCE, credentialsIn(dataDir))
  const began = performance.now()
  const show = (mark: string, where: string, what: string, observed: string) => {
    const time = ((performance.now() - began) / 1000).toFixed(2).padStart(6)
    say(`${time} s  ${mark} ${where.padEnd(17)} ${what}`)
    say(styleText('dim', `${' '.repeat(30)}${observed}`))
  }
  try {
    for (const [where, what, act, expected] of story) {
      const found = await act(parties).catch(error => [String(error)])
      if (!isDeepStrictEqual(found, expected)) {
        const difference = `expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`
        show(styleText('red', '✘'), where, what, difference)
        return what
      }
      show(styleText('green', '✔'), where, what, found.join(', '))
    }
    return undefined
  } finally {
    parties.close()
  }
}

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())

// Separate ports and data, so that it can run alongside `npm start`.
const dataDir = await mkdtemp(join(tmpdir(), 'order-relay-demo-'))
say('Starting the relay and a sandbox of the accounting service …')
try {
  const verbose = process.argv.includes('--verbose')
  const stays = process.argv.includes('--stay')
  const ports = await freePorts()
  const stack = await startStack({
    ...{ ports, dataDir, watch: false, signal: stopping.signal, withConsole: stays },
    onNextConsoleUrl: url => say(`For another session of the console: ${url}`),
    ...(verbose && { verbose, print: say }),
  })
  try {
    const failed = await play(stack)
    say(failed === undefined ? `\nAll ${story.length} steps were observed.` : `\nNot observed: ${failed}`)
    process.exitCode = failed === undefined ? 0 : 1
    if (stays && !stopping.signal.aborted) {
      say(`The order in the console: ${stack.consoleUrl()}#/orders/${SOURCE}/A-1\nCtrl-C stops everything.`)
      const stopped = new Promise(resolve => stopping.signal.addEventListener('abort', resolve))
      await Promise.race([stopped, stack.broken])
    }
  } finally {
    await stack.stop()
  }
} catch (error) {
  say(`Cannot start the demo: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  await rm(dataDir, { recursive: true, force: true })
}
process.exit()
