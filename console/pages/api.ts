import { queryOf, request } from '../../web/http.ts'
import { refresh, source } from '../../web/sources.ts'
import type { Routes } from '../routes.ts'

/** A type as JSON that the browser has read. */
type Read<T> = T extends Date ? string : T extends object ? { [Field in keyof T]: Read<T[Field]> } : T

type RouteOf<Path extends Routes['path']> = Extract<Routes, { path: Path }>

/** What a route answers. */
export type Answer<Path extends Routes['path']> = Read<Awaited<ReturnType<RouteOf<Path>['handle']>>>

/**
 * A source for a page: what a route answers to a query.
 *
 * @param kinds changes after which it is read again: polled values, and messages of the log
 */
export const reads = <Path extends Extract<Routes, { method: 'get' }>['path']>(
  path: Path,
  query: Record<string, string | number | null | undefined> = {},
  ...kinds: string[]
) => source<Answer<Path>>(`/api/${path}${queryOf(query)}`, ...kinds)

/** Changes something, and then reads what is shown. */
export const act = async <Path extends Extract<Routes, { method: 'post' }>['path']>(
  path: Path,
  body: Parameters<RouteOf<Path>['handle']>[0],
): Promise<Answer<Path>> => {
  const answer = await request<Answer<Path>>('POST', `/api/${path}`, body)
  await refresh()
  return answer
}
