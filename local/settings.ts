import { resolve } from 'node:path'

/** Each address of the local stack: what listens there, the variable that moves it, and its default. */
export const ADDRESSES = {
  relay: { variable: 'RELAY_PORT', port: 3000 },
  lambda: { variable: 'LAMBDA_PORT', port: 3002 },
  sandbox: { variable: 'SANDBOX_PORT', port: 4000 },
  dynamodb: { variable: 'DYNAMODB_PORT', port: 8000 },
  sqs: { variable: 'SQS_PORT', port: 9324 },
  ssm: { variable: 'SSM_PORT', port: 9325 },
} as const

export type PortName = keyof typeof ADDRESSES
export type Ports = Readonly<Record<PortName, number>>
export type Settings = { ports: Ports; dataDir: string; watch: boolean }

export const PORT_NAMES: readonly PortName[] = ['relay', 'lambda', 'sandbox', 'dynamodb', 'sqs', 'ssm']

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
        `Cannot start: ${owner} and ${variable} are both ${ports[name]}; give each a port of its own`,
      )
    }
    owners.set(ports[name], variable)
  }
}

/**
 * Where the local stack listens and keeps its data, from `RELAY_PORT` and the other port variables,
 * `ORDER_RELAY_DATA` (a directory, default `.order-relay`) and `ORDER_RELAY_WATCH` (`false`: functions
 * are not rebuilt when their source changes).
 *
 * @throws Error when a port variable is no port number or two of them are the same
 */
export const settingsFrom = (environment: Environment): Settings => {
  const ports: Ports = {
    relay: portFrom(environment, 'relay'),
    lambda: portFrom(environment, 'lambda'),
    sandbox: portFrom(environment, 'sandbox'),
    dynamodb: portFrom(environment, 'dynamodb'),
    sqs: portFrom(environment, 'sqs'),
    ssm: portFrom(environment, 'ssm'),
  }
  assertDistinct(ports)
  return {
    ports,
    dataDir: resolve(environment.ORDER_RELAY_DATA || '.order-relay'),
    watch: environment.ORDER_RELAY_WATCH !== 'false',
  }
}

/** The settings as environment variables, for a child of the stack. */
export const environmentOf = ({ ports, dataDir, watch }: Settings): Record<string, string> => ({
  ...Object.fromEntries(PORT_NAMES.map(name => [ADDRESSES[name].variable, String(ports[name])])),
  ORDER_RELAY_DATA: dataDir,
  ORDER_RELAY_WATCH: String(watch),
})

/** Everything local listens here and nowhere else. */
export const HOST = '127.0.0.1'

export const urlOf = (port: number): string => `http://${HOST}:${port}`
