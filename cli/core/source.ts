import { SourceMap } from 'node:module'
import { posix } from 'node:path'
import { ROOT, readService } from './stack.ts'

/** A place in the bundle of a deployed function. */
const FRAME = /file:\/\/\/var\/task\/(functions\/\w+)\.mjs:(\d+):(\d+)/g

const maps = new Map<string, Promise<SourceMap>>()

/** The source map of a function, from bundling this checkout: its commit must be the one that is deployed. */
const mapOf = (source: string): Promise<SourceMap> => {
  const make = async () => {
    // Slow to load, and only needed here.
    const { bundle } = await import('../../deploy/package.ts')
    return new SourceMap(JSON.parse((await bundle(ROOT, readService().custom.esbuild, source)).map))
  }
  const map = maps.get(source) ?? make()
  maps.set(source, map)
  return map
}

/** Replaces places in the bundles of deployed functions by those in the source. */
export const toSource = async (stack: string): Promise<string> => {
  let text = stack
  for (const [place, source = '', line, column] of stack.matchAll(FRAME)) {
    const entry = (await mapOf(source)).findEntry(Number(line) - 1, Number(column) - 1)
    if (!('originalSource' in entry)) continue
    const path = posix.join(posix.dirname(source), entry.originalSource)
    text = text.replace(place, `${path}:${entry.originalLine + 1}:${entry.originalColumn + 1}`)
  }
  return text
}
