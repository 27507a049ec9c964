import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { styleText } from 'node:util'
import { freePorts } from '../ports.ts'
import { type Stack, startStack } from '../stack.ts'
import { partiesOf } from './parties.ts'
import { story } from './story.ts'

const say = (line: string) => process.stdout.write(`${line}\n`)

/** Plays the story; returns the name of the step that failed, or undefined. */
const play = async (stack: Stack): Promise<string | undefined> => {
  const parties = partiesOf(stack.urls, 'demo-shop')
  const began = performance.now()
  try {
    for (const { where, name, observe } of story) {
      const time = () => `${((performance.now() - began) / 1000).toFixed(2).padStart(6)} s`
      try {
        const observed = await observe(parties)
        say(`${time()}  ${styleText('green', '✔')} ${where.padEnd(17)} ${name}`)
        say(styleText('dim', `${' '.repeat(30)}${observed}`))
      } catch (error) {
        say(`${time()}  ${styleText('red', '✘')} ${where.padEnd(17)} ${name}`)
        say(`${' '.repeat(30)}${error instanceof Error ? error.message : String(error)}`)
        return name
      }
    }
    return undefined
  } finally {
    parties.close()
  }
}

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())

// Its own ports and data, so that it runs beside `npm start`.
const dataDir = await mkdtemp(join(tmpdir(), 'order-relay-demo-'))
say('Starting the relay and a sandbox of the accounting service …')
try {
  const verbose = process.argv.includes('--verbose')
  const ports = await freePorts()
  const stack = await startStack({
    ...{ ports, dataDir, watch: false, signal: stopping.signal },
    ...(verbose && { verbose, print: say }),
  })
  const failed = await play(stack).finally(() => stack.stop())
  say(failed === undefined ? `\nAll ${story.length} steps were observed.` : `\nNot observed: ${failed}`)
  process.exitCode = failed === undefined ? 0 : 1
} catch (error) {
  say(`Cannot start the demo: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  await rm(dataDir, { recursive: true, force: true })
}
process.exit()
