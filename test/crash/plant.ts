import { registerHooks } from 'node:module'
import type { Bug } from './bugs.ts'
import type { Case } from './explore.ts'

const ROOT = new URL('../../', import.meta.url).href

/** The bugs that were planted; a module's URL names the bug of its copy: `…/handler.ts?bug=3`. */
const planted: { bug: Bug; isFound: boolean }[] = []

const indexOf = (url = '') => {
  const [, index] = /\?bug=(\d+)$/.exec(url) ?? []
  return index === undefined ? undefined : Number(index)
}

const patch = ({ file, find, replace }: Bug, source: string): string => {
  const count = source.split(find).length - 1
  if (count !== 1) throw new Error(`Cannot plant a bug in ${file}: "${find}" is there ${count} times`)
  return source.replace(find, () => replace)
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    const index = indexOf(context.parentURL)
    const isOurs = resolved.url.startsWith(ROOT) && !resolved.url.includes('/node_modules/')
    return index === undefined || !isOurs ? resolved : { ...resolved, url: `${resolved.url}?bug=${index}` }
  },
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const entry = planted[indexOf(url) ?? -1]
    if (entry === undefined || !url.startsWith(`${ROOT}${entry.bug.file}?`)) return loaded
    entry.isFound = true
    return { ...loaded, source: patch(entry.bug, String(loaded.source)) }
  },
})

/**
 * Loads the relay and the harness once more with a bug planted, and explores until something is violated: every
 * scenario without a fault or, where the bug names its scenario, that one with every fault.
 *
 * @throws Error when the text to replace is not found exactly once
 */
export const firstViolationWith = async (bug: Bug): Promise<Case | undefined> => {
  const entry = { bug, isFound: false }
  const index = planted.push(entry) - 1
  const copy: typeof import('./explore.ts') = await import(`./explore.ts?bug=${index}`)
  if (!entry.isFound) throw new Error(`Cannot plant a bug in ${bug.file}: it is not loaded`)
  const { SCENARIOS }: typeof import('./scenarios.ts') = await import(`./scenarios.ts?bug=${index}`)
  const { scenario } = bug
  if (scenario === undefined) return copy.firstViolation({ depth: 0 })
  return copy.firstViolation({ scenarios: SCENARIOS.filter(({ name }) => name === scenario) })
}
