import { GetParameterCommand, GetParametersByPathCommand } from '@aws-sdk/client-ssm'
import * as v from 'valibot'
import type { Ssm } from './clients.ts'
import type { Runtime } from './environment.ts'
import { backoff } from './retry.ts'

/** Parameters in use are read again after a minute, so that a deleted one stops working within a minute. */
const TTL_MS = 60_000

/** After a miss, parameters are read again at most this often: a miss may be a new secret, or a forgery. */
export const REFRESH_INTERVAL_MS = 60_000

/** The same interval for keys and for secrets of feeds. A webhook secret that replaces another is announced instead. */
export const NEW_VALUE_INTERVAL_MS = 15_000

/** Pause after a failed read while the last values are in use: more requests would sustain a throttle. */
const FAILURE_PAUSE_MS = 30_000

/**
 * Pauses without usable values, in milliseconds: 1 to 2 s, then 2 to 4 s. The environment can serve nothing until then,
 * and is usually one of many that started together and exceed the rate of Parameter Store.
 */
const FIRST_PAUSES_MS = { first: 2000, longest: 4000 }

/** How long the last values remain in use while Parameter Store fails. */
const MAX_STALE_MS = 60 * 60_000

/** The text of a parameter whose value is valid until a unix time in seconds. */
export const untilText = (value: string, until: number): string => `${value} until ${until}`

const UNTIL = /^(.+) until (\d{1,15})$/

/** The value of {@link untilText}, unless it has expired. */
export const valueUntil = (text: string | undefined, now: number): string | undefined => {
  const [, value, until] = UNTIL.exec(text ?? '') ?? []
  return Number(until) > now ? value : undefined
}

/** The unix time of {@link untilText}, in seconds. */
export const expiryOf = (text: string): number => Number(UNTIL.exec(text)?.[2] ?? 0)

/** Parameter values by their name relative to a path. */
export type Parameters = Readonly<Record<string, string>>

export type LoadParameters = () => Promise<Parameters>

/** Reads all SecureString parameters below `path`, such as `/order-relay/production/store-keys`. */
export const parametersBelow =
  (ssm: Ssm, path: string): LoadParameters =>
  async () => {
    const found: [name: string, value: string][] = []
    let next: string | undefined
    do {
      const { Parameters = [], NextToken } = await ssm.send(
        new GetParametersByPathCommand({
          Path: path,
          Recursive: true,
          WithDecryption: true,
          NextToken: next,
        }),
      )
      for (const { Name, Value } of Parameters) {
        if (Name !== undefined && Value !== undefined) found.push([Name.slice(path.length + 1), Value])
      }
      next = NextToken
    } while (next !== undefined)
    return Object.fromEntries(found)
  }

/** The parameters of an index: one page of GetParametersByPath. */
const SHARDS = 10

/** Puts a secret and the one that it replaces, whose name has a suffix after a dot, into the same shard. */
const shardOf = (name: string) =>
  [...name.replace(/\..*/s, '')].reduce((sum, character) => sum + character.charCodeAt(0), 0) % SHARDS

/** The path of the index of the parameters below a path. */
export const indexOf = (path: string): string => `${path}-index`

/**
 * The index of parameters: names and values in ten texts, sharded by a stable hash of the name. It has only the
 * first line of a value: the others are for people.
 */
export const indexTexts = (parameters: Parameters): string[] =>
  Array.from({ length: SHARDS }, (_, shard) => {
    const entries = Object.entries(parameters)
      .filter(([name]) => shardOf(name) === shard)
      .map(([name, value]) => [name, value.replace(/\n.*/s, '')])
    return JSON.stringify(Object.fromEntries(entries.sort()))
  })

const indexText = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.string()))

/**
 * Reads all parameters below a path from their index, with one call regardless of their number: Parameter Store allows
 * 40 calls a second, of ten parameters each. Without a complete index, reads the parameters themselves.
 */
export const indexedParameters =
  (ssm: Ssm, path: string): LoadParameters =>
  async () => {
    const texts = Object.values(await parametersBelow(ssm, indexOf(path))())
    if (texts.length < SHARDS) return parametersBelow(ssm, path)()
    return Object.assign({}, ...texts.map(text => v.parse(indexText, text)))
  }

/** Reads the SecureString parameter `<path>/<name>`; the result is empty when it does not exist. */
export const singleParameter =
  (ssm: Ssm, path: string, name: string): LoadParameters =>
  async () => {
    try {
      const { Parameter } = await ssm.send(
        new GetParameterCommand({ Name: `${path}/${name}`, WithDecryption: true }),
      )
      return Parameter?.Value === undefined ? {} : { [name]: Parameter.Value }
    } catch (error) {
      if (error instanceof Error && error.name === 'ParameterNotFound') return {}
      throw error
    }
  }

/**
 * Parameters kept in memory. Regardless of the number of requests, Parameter Store is read at a bounded rate: once a
 * minute in use, once per interval after a miss, and while it fails every half minute, or every few seconds without any
 * usable values (promise P4). Concurrent callers share a read.
 */
export type ParameterCache = {
  /**
   * The current values.
   *
   * @throws the error of Parameter Store, if nothing was read within the last hour
   */
  get: () => Promise<Parameters>
  /**
   * Searches the current values and, after a miss, freshly read ones.
   *
   * @param interval minimum time between two reads after a miss, in milliseconds
   */
  find: <Found>(
    search: (parameters: Parameters) => Found | undefined,
    interval?: number,
  ) => Promise<Found | undefined>
}

/** Keeps in memory what `load` reads. */
export const parameterCache = (
  load: LoadParameters,
  { now, random }: Pick<Runtime, 'now' | 'random'>,
): ParameterCache => {
  let held: { values: Parameters; at: number } | undefined
  let reading: Promise<Parameters> | undefined
  let failure: { error: unknown; until: number } | undefined
  let failures = 0
  let missAt = Number.NEGATIVE_INFINITY

  const isStaleUsable = () => held !== undefined && now() - held.at < MAX_STALE_MS

  const read = () => {
    reading ??= load()
      .then(
        values => {
          held = { values, at: now() }
          failures = 0
          return values
        },
        error => {
          failures++
          const { first, longest } = FIRST_PAUSES_MS
          const pause = isStaleUsable()
            ? FAILURE_PAUSE_MS * (0.75 + random() / 2)
            : backoff(first, longest, failures, random())
          failure = { error, until: now() + pause }
          throw error
        },
      )
      .finally(() => {
        reading = undefined
      })
    return reading
  }

  const get = async (): Promise<Parameters> => {
    const current = held
    const age = current === undefined ? Number.POSITIVE_INFINITY : now() - current.at
    if (current !== undefined && age < TTL_MS) return current.values
    const usable = isStaleUsable() ? current?.values : undefined
    if (failure !== undefined && now() < failure.until) {
      if (usable !== undefined) return usable
      throw failure.error
    }
    return read().catch(error => {
      if (usable !== undefined) return usable
      throw error
    })
  }

  const find: ParameterCache['find'] = async (search, interval = REFRESH_INTERVAL_MS) => {
    const values = await get()
    const found = search(values)
    if (found !== undefined) return found
    const isPaused = failure !== undefined && now() < failure.until
    if (reading === undefined && (isPaused || now() - missAt < interval)) return undefined
    missAt = now()
    return search(await read().catch(() => values))
  }

  return { get, find }
}
