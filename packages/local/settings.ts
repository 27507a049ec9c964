import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { HOST } from '@order-relay/web/foreign.ts'

/** The addresses of the local stack: variable and default. */
export const ADDRESSES = {
  relay: { variable: 'RELAY_PORT', port: 3000 },
  lambda: { variable: 'LAMBDA_PORT', port: 3002 },
  sandbox: { variable: 'SANDBOX_PORT', port: 4000 },
  dynamodb: { variable: 'DYNAMODB_PORT', port: 8000 },
  sqs: { variable: 'SQS_PORT', port: 9324 },
  ssm: { variable: 'SSM_PORT', port: 9325 },
  console: { variable: 'CONSOLE_PORT', port: 5000 },
} as const

export type PortName = keyof typeof ADDRESSES
export type Ports = Readonly<Record<PortName, number>>
export type Settings = {
  ports: Ports
  dataDir: string
  /** Whether source changes rebuild the functions and changes of stores.yml restart the relay. */
  watch: boolean
}

export const PORT_NAMES = Object.keys(ADDRESSES) as PortName[]

/** A value for each port. */
export const eachPort = <Value>(of: (name: PortName) => Value) =>
  Object.fromEntries(PORT_NAMES.map(name => [name, of(name)])) as Readonly<Record<PortName, Value>>

export type Environment = Readonly<Record<string, string | undefined>>

const portFrom = (environment: Environment, name: PortName) => {
  const { variable, port } = ADDRESSES[name]
  const text = environment[variable]
  if (text === undefined || text === '') return port
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1 || value > 65535) {
    throw new Error(`Cannot start: ${variable} is "${text}"; set it to a port number from 1 to 65535`)
  }
  return value
}

const assertDistinct = (ports: Ports) => {
  const owners = new Map<number, string>()
  for (const name of PORT_NAMES) {
    const { variable } = ADDRESSES[name]
    const owner = owners.get(ports[name])
    if (owner !== undefined) {
      throw new Error(
        `Cannot start: ${owner} and ${variable} are both ${ports[name]}; set them to different ports`,
      )
    }
    owners.set(ports[name], variable)
  }
}

const dataDirOf = (environment: Environment) =>
  resolve(environment.ORDER_RELAY_DATA || join(import.meta.dirname, '../../.order-relay'))

/**
 * The settings in `RELAY_PORT` and the other port variables, `ORDER_RELAY_DATA` (a directory, default
 * `.order-relay` of this checkout) and `ORDER_RELAY_WATCH` (`false` turns rebuilding off).
 *
 * @throws Error when a port variable is not a port number or two of them are equal
 */
export const settingsFrom = (environment: Environment): Settings => {
  const ports = eachPort(name => portFrom(environment, name))
  assertDistinct(ports)
  return {
    ports,
    dataDir: dataDirOf(environment),
    watch: environment.ORDER_RELAY_WATCH !== 'false',
  }
}

const portVariables = (ports: Ports): Record<string, string> =>
  Object.fromEntries(PORT_NAMES.map(name => [ADDRESSES[name].variable, String(ports[name])]))

/** The environment variables from which a child process reads these settings. */
export const environmentOf = ({ ports, dataDir, watch }: Settings): Record<string, string> => ({
  ...portVariables(ports),
  ORDER_RELAY_DATA: dataDir,
  ORDER_RELAY_WATCH: String(watch),
})

/** The file in the data directory with the ports of the stack that started last. */
const PORTS_FILE = 'ports.env'

/** Saves the ports of a stack that starts, for {@link settingsOfStack}. */
export const savePorts = async ({ ports, dataDir }: Pick<Settings, 'ports' | 'dataDir'>): Promise<void> => {
  const lines = Object.entries(portVariables(ports)).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(join(dataDir, PORTS_FILE), lines.join(''), { mode: 0o600 })
}

/**
 * The settings of the stack that started last with this data directory, so that commands reach it without its port
 * variables; variables that are set take precedence.
 *
 * @throws as settingsFrom
 */
export const settingsOfStack = (environment: Environment): Settings => {
  let saved: Environment = {}
  try {
    saved = parseEnv(readFileSync(join(dataDirOf(environment), PORTS_FILE), 'utf8'))
  } catch {
    // No stack has started yet.
  }
  return settingsFrom({ ...saved, ...environment })
}

export const urlOf = (port: number): string => `http://${HOST}:${port}`

/** The remedy for unusable data. It removes all data, since the parts belong together and are only for development. */
export const START_OVER = 'remove .order-relay (or the directory in ORDER_RELAY_DATA) to start over'

/** The emulators do not check account or region. */
export const ACCOUNT_ID = '000000000000'
export const REGION = 'eu-central-1'

export const queueUrl = (port: number, name: string): string => `${urlOf(port)}/${ACCOUNT_ID}/${name}`
export const queueArn = (name: string): string => `arn:aws:sqs:${REGION}:${ACCOUNT_ID}:${name}`

/** The id of the webhook secret with which the sandbox signs. */
export const SANDBOX_SECRET_ID = 'sandbox'

/** A key of the sandbox with the scope `orders.write`. */
export const SANDBOX_KEY = 'sandbox-key'

/** The message with which the relay's process asks `npm start` to restart it. */
export const STORES_CHANGED = 'stores changed'
