import { registerHooks } from 'node:module'
import { type Bug, patch } from './bugs.ts'
import type { Case } from './explore.ts'

const ROOT = new URL('../../', import.meta.url).href

/** The planted bugs; a copied module's URL names its bug: `…/handler.ts?bug=3`. */
const planted: { bug: Bug; isFound: boolean }[] = []

const indexOf = (url = '') => {
  const [, index] = /\?bug=(\d+)$/.exec(url) ?? []
  return index === undefined ? undefined : Number(index)
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
 * Loads a module; with a bug, a copy of it and of all project modules that it imports.
 *
 * Throws if the text to replace does not occur exactly once.
 */
export const load = async <Module>(url: string, bug?: Bug): Promise<Module> => {
  if (bug === undefined) return import(url)
  const entry = { bug, isFound: false }
  const copy = await import(`${url}?bug=${planted.push(entry) - 1}`)
  if (!entry.isFound) throw new Error(`Cannot plant a bug in ${bug.file}: it is not loaded`)
  return copy
}

/** Explores the scenario of a planted bug until a violation is found. */
export const firstViolationWith = async (bug: Bug): Promise<Case | undefined> => {
  const url = import.meta.resolve('./explore.ts')
  const { crashMatrix } = await load<typeof import('./explore.ts')>(url, bug)
  return (await crashMatrix({ untilFirst: true, only: bug.scenario })).failures[0]
}
