import {
  type GetParametersByPathCommandOutput,
  paginateGetParametersByPath,
  type SSMClient,
} from '@aws-sdk/client-ssm'
import type { Language } from './cases.ts'
import type { Settings } from './settings.ts'

/** A connected shop, as `relay woo connect` stores it in one encrypted parameter. */
export type Connection = {
  settings: Settings
  /** The language of notes in the shop. */
  language: Language
  /** Orders created before this time, ISO 8601, are sent only by an import: the accounting service may already have them. */
  since: string
  shop: { url: string; key: string; secret: string }
  /** The secret signs the shop's webhooks to the URL. */
  webhooks: { secret: string; url: string }
  relay: { url: string; key: string; secret: string }
}

/** The name of a connection in addresses and parameters: a source may be any text. */
export const connectionId = (source: string): string => Buffer.from(source).toString('base64url')

export const sourceOf = (id: string): string => Buffer.from(id, 'base64url').toString()

const REFRESH_MS = 60_000

/** How often an unknown source is looked up: new connections work soon, and forgeries cost nothing. */
const UNKNOWN_MS = 5000

export type Connections = {
  get: (source: string) => Promise<Connection | undefined>
  all: () => Promise<readonly Connection[]>
}

/**
 * The connections, read again every minute.
 *
 * @param path of the parameters, such as `/order-relay-woocommerce/production`
 */
export const storedConnections = (ssm: SSMClient, path: string, now: () => number): Connections => {
  let read: { at: number; connections: Promise<ReadonlyMap<string, Connection>> } | undefined
  const load = async () => {
    const found = new Map<string, Connection>()
    const pages = paginateGetParametersByPath({ client: ssm }, { Path: path, WithDecryption: true })
    for await (const { Parameters = [] } of pages as AsyncIterable<GetParametersByPathCommandOutput>)
      for (const { Value = '{}' } of Parameters) {
        const connection = JSON.parse(Value) as Connection
        found.set(connection.settings.source, connection)
      }
    return found
  }
  const current = (refreshMs = REFRESH_MS) => {
    if (read === undefined || now() - read.at >= refreshMs) {
      const connections = load()
      read = { at: now(), connections }
      connections.catch(() => {
        read = undefined
      })
    }
    return read.connections
  }
  return {
    get: async source => (await current()).get(source) ?? (await current(UNKNOWN_MS)).get(source),
    all: async () => [...(await current()).values()],
  }
}
