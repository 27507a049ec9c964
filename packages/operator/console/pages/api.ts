import { linesOf, queryOf, Refusal, request, send } from '@order-relay/web/http.ts'
import { refresh, resource } from '@order-relay/web/resources.ts'
import type { Routes } from '../routes.ts'

/** A type after the browser has parsed its JSON. */
type Read<T> = T extends Date ? string : T extends object ? { [Field in keyof T]: Read<T[Field]> } : T

type RouteOf<Path extends Routes['path']> = Extract<Routes, { path: Path }>

type Items<T> = T extends AsyncIterable<infer Item> ? Item : T

/** The response of a route, or each document of its stream. */
export type RouteData<Path extends Routes['path']> = Read<Items<Awaited<ReturnType<RouteOf<Path>['handle']>>>>

/**
 * A resource of a page: the response of a route to a query.
 *
 * @param kinds changes after which it is read again: polled values and log messages
 */
export const reads = <Path extends Extract<Routes, { method: 'get' }>['path']>(
  path: Path,
  query: Record<string, string | number | null | undefined> = {},
  ...kinds: string[]
) => resource<RouteData<Path>>(`/api/${path}${queryOf(query)}`, ...kinds)

/** Each change of an order writes one of these lines to the log; a request may wait behind a failing event. */
export const ORDER_CHANGES = ['event processed', 'event retried', 'event deferred', 'request waiting']

export const OVERVIEW = reads(
  'overview',
  {},
  'queues',
  'rates',
  'ages',
  'alarms',
  'failing',
  'new-key',
  'answered',
  'imports',
  'signatures',
  'ignored',
  'failing-feeds',
  'unauthorized',
  'expiring-keys',
  'stores-file',
  'accountant',
)

/** Sends a change, then refreshes the page. */
export const act = async <Path extends Extract<Routes, { method: 'post' }>['path']>(
  path: Path,
  body: Parameters<RouteOf<Path>['handle']>[0],
): Promise<RouteData<Path>> => {
  const answer = await request<RouteData<Path>>('POST', `/api/${path}`, body)
  await refresh()
  return answer
}

/**
 * Reads the documents of a stream as they arrive.
 *
 * @throws Refusal when it ends with an error
 */
export async function* streams<Path extends Extract<Routes, { method: 'get' }>['path']>(
  path: Path,
  query: Record<string, string | number>,
  signal: AbortSignal | null = null,
): AsyncGenerator<RouteData<Path>> {
  const response = await send(`/api/${path}${queryOf(query)}`, { signal })
  for await (const line of linesOf(response)) {
    if (line === '') continue
    const { item, error } = JSON.parse(line)
    if (error !== undefined) throw new Refusal(error.message, { status: response.ok ? 500 : response.status })
    yield item
  }
}
