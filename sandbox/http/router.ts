import { quoted, Refusal } from '../refusal.ts'
import type { Answer } from './answer.ts'

/** Who may call: anyone with a key, a key with the scope `orders.write`, or anyone on this machine. */
export type Access = 'read' | 'write' | 'local'

/** A request as the actions need it: `body` is the parsed JSON, undefined when none was sent. */
export type Call = {
  host: string
  parameters: Record<string, string>
  query: URLSearchParams
  body: unknown
}

export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Segments beginning with a colon are parameters; a last `*` takes the rest of the path. */
  path: string
  access: Access
  handle: (call: Call) => Answer | Promise<Answer>
}

/** Split before it is decoded: an id may itself contain a slash, as %2F. A last slash is optional. */
const segmentsOf = (path: string) => path.replace(/^\/|\/$/g, '').split('/')

const decoded = (segment: string, name: string) => {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Refusal(
      'invalid',
      `The path has ${quoted(segment)} as ${name}: not percent-encoded UTF-8`,
      name,
    )
  }
}

const fits = (pattern: readonly string[], segments: readonly string[]) =>
  (pattern.at(-1) === '*' ? segments.length >= pattern.length : segments.length === pattern.length) &&
  pattern.every((part, index) => part === '*' || part === segments[index] || part.startsWith(':'))

const parametersOf = (pattern: readonly string[], segments: readonly string[]) =>
  Object.fromEntries(
    pattern.flatMap((part, index) => {
      if (part === '*') return [['*', decoded(segments.slice(index).join('/'), 'path')]]
      return part.startsWith(':') ? [[part.slice(1), decoded(segments[index] ?? '', part.slice(1))]] : []
    }),
  )

/** A path that exists, but not with this method; the answer names the methods it has. */
export class MethodNotAllowed extends Refusal {
  readonly allow: string

  constructor(method: string, allow: string) {
    super('method_not_allowed', `The method is ${method}: this path has ${allow}`)
    this.allow = allow
  }
}

/**
 * @returns a function that finds the route of a request and its path parameters
 * @throws Refusal (from that function) when there is no such path, or not with this method
 */
export const router = (routes: readonly Route[]) => {
  const patterns = routes.map(route => ({ route, pattern: segmentsOf(route.path) }))
  return (method: string, path: string) => {
    const segments = segmentsOf(path)
    const candidates = patterns.filter(({ pattern }) => fits(pattern, segments))
    if (candidates.length === 0) throw new Refusal('not_found', `The path ${quoted(path)} does not exist`)
    const wanted = method === 'HEAD' ? 'GET' : method
    const chosen = candidates.find(({ route }) => route.method === wanted)
    if (chosen === undefined) {
      const methods = candidates.map(({ route }) => (route.method === 'GET' ? 'GET, HEAD' : route.method))
      throw new MethodNotAllowed(method, [...new Set(methods)].join(', '))
    }
    return { route: chosen.route, parameters: parametersOf(chosen.pattern, segments) }
  }
}
