import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isNativeError } from 'node:util/types'
import { DEFAULT_TIME_ZONE } from './clock.ts'
import { PORT_RULE, type Rule, SPEED_RULE } from './options.ts'
import { PORT, startSandbox } from './start.ts'

const DEFAULT_DIR = '.order-relay'
const FILE = 'sandbox.db'

const USAGE = `A local implementation of the accounting service, with a panel for its accountant.

  --port N      port on 127.0.0.1 (default: SANDBOX_PORT or ${PORT})
  --data FILE   database file (default: ${FILE} in ORDER_RELAY_DATA or ${DEFAULT_DIR})
  --speed N     run the webhook retry schedule N times faster (default: 1)
  --help        show this help

ACCOUNTING_TIME_ZONE is the time zone in which the service has its days (default: ${DEFAULT_TIME_ZONE}).
`

const numberOf = (name: string, text: string, { is, rule }: Rule) => {
  const value = Number(text)
  if (text.trim() === '' || !is(value)) throw new Error(`Cannot use ${name} "${text}": must be ${rule}`)
  return value
}

class UsageError extends Error {}

/** Like {@link parseArgs}, whose errors explain its own options. */
const parsed = (args: string[]) => {
  try {
    return parseArgs({
      args,
      options: {
        port: { type: 'string' },
        data: { type: 'string' },
        speed: { type: 'string', default: '1' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    const [found = ''] = String(error instanceof Error ? error.message : error).split('. ')
    const why = found.charAt(0).toLowerCase() + found.slice(1)
    throw new UsageError(`Cannot read the command: ${why}; see order-relay-sandbox --help`, { cause: error })
  }
}

/** Only the owner can read the directory, even one that an earlier version created. */
const openDirectory = (path: string) => {
  try {
    mkdirSync(path, { recursive: true })
    chmodSync(path, 0o700)
  } catch (cause) {
    const code = isNativeError(cause) && 'code' in cause ? cause.code : cause
    const state = code === 'EEXIST' || code === 'ENOTDIR' ? 'it is not a directory' : code
    const remedy = 'set ORDER_RELAY_DATA to a directory that you can write to'
    throw new Error(`Cannot keep data in ${path}: ${state}; ${remedy}`, { cause })
  }
}

const fail = (error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(error instanceof UsageError ? 2 : 1)
}

/**
 * Starts the sandbox, which runs until this process is asked to stop.
 *
 * @throws Error when an argument is not valid, or the port or the database cannot be used
 */
export const main = async (args: string[]) => {
  const values = parsed(args)
  if (values.help) return void process.stdout.write(USAGE)
  const [name, text] =
    values.port === undefined ? ['SANDBOX_PORT', process.env.SANDBOX_PORT ?? PORT] : ['--port', values.port]
  const port = numberOf(name, `${text}`, PORT_RULE)
  const speed = numberOf('--speed', values.speed, SPEED_RULE)
  const directory = process.env.ORDER_RELAY_DATA || DEFAULT_DIR
  const { data = join(directory, FILE) } = values
  if (values.data === undefined) openDirectory(directory)
  const timeZone = process.env.ACCOUNTING_TIME_ZONE || DEFAULT_TIME_ZONE
  const sandbox = await startSandbox({ port, data, speed, timeZone })

  const stop = () => sandbox.close().then(() => process.exit(0), fail)
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  // If another process started the sandbox: exit with it, even if it was killed.
  process.on('disconnect', stop)
  process.stdout.write(`sandbox ready at ${sandbox.url}\n`)
}

/** The program: like {@link main}, with the arguments of this process. */
export const run = () => main(process.argv.slice(2)).catch(fail)

if (import.meta.main) await run()
