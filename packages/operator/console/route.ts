import type { InferOutput, ObjectEntries, ObjectSchema } from 'valibot'
import * as v from 'valibot'
import { cannot } from '../core/errors.ts'

export type Route = {
  method: 'get' | 'post'
  /** Below `/api/`. */
  path: string
  input: ObjectSchema<ObjectEntries, undefined>
  /** @param gone aborted once the client has disconnected */
  handle: (input: never, gone: AbortSignal) => unknown
}

type Input<Entries extends ObjectEntries> = ObjectSchema<Entries, undefined>

type Handle<Entries extends ObjectEntries, Result> = (
  input: InferOutput<Input<Entries>>,
  gone: AbortSignal,
) => Result

/** A route with its type, from which the pages infer its input and response. */
type Typed<Method, Path, Entries extends ObjectEntries, Result> = {
  method: Method
  path: Path
  input: Input<Entries>
  handle: Handle<Entries, Result>
}

const route =
  <Method extends Route['method']>(method: Method) =>
  <const Path extends string, Entries extends ObjectEntries, Result>(
    path: Path,
    entries: Entries,
    /** Returns the JSON of the response or, as an async generator, one document per line. */
    handle: Handle<Entries, Result>,
  ): Typed<Method, Path, Entries, Result> => ({ method, path, input: v.object(entries), handle })

/** @throws Failure unless the given name is exactly that of what the action deletes */
export const confirmName = (action: string, name: string, given: string | undefined) => {
  if (given !== name) throw cannot(action, 'it was not confirmed by the name', `type "${name}"`)
}

/** How far back a filter may reach. */
export const PERIODS = ['1h', '24h', '7d'] as const

/** Reads something; the input is the query. */
export const get = route('get')

/** Changes something; the input is the JSON body. */
export const post = route('post')
