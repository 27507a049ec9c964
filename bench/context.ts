import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCloud, type Way } from './cloud.ts'
import { type Counts, countCalls } from './counts.ts'
import { type Bundle, type Implementation, makeBundle, packageService } from './implementations.ts'
import { startFunction } from './runtime/function.ts'

const once = <Result>(make: () => Promise<Result>) => {
  let made: Promise<Result> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** What the parts of the benchmark share; each is made when a part first asks for it. */
export const createContext = async () => {
  const root = await mkdtemp(join(tmpdir(), 'order-relay-bench-'))
  const cloud = once(() => startCloud(root))
  const zips = once(() => packageService(join(root, 'package')))
  const bundles = new Map<Implementation, Promise<Bundle>>()

  const bundle = (implementation: Implementation): Promise<Bundle> => {
    const made =
      bundles.get(implementation) ?? makeBundle(implementation, zips, join(root, String(bundles.size)))
    bundles.set(implementation, made)
    return made
  }
  const start = async (implementation: Implementation, way: Way) =>
    startFunction(await bundle(implementation), (await cloud()).environment(way))
  /** What each kind of delivery calls; on the way each implementation is verified to do its job. */
  const counts: () => Promise<Counts> = once(async () => countCalls(await cloud(), start))

  return {
    cloud,
    zips,
    bundle,
    start,
    counts,
    close: async () => {
      await cloud().then(({ close }) => close())
      await rm(root, { recursive: true, force: true })
    },
  }
}

export type Context = Awaited<ReturnType<typeof createContext>>

/** What the project asks for, and what was found. */
export type Target = { what: string; target: string; found: string; met: boolean }

/** A ratio that must not exceed a limit. */
export const atMost = (what: string, limit: number, found: number): Target => ({
  what,
  target: `≤ ${limit} ×`,
  found: `${found} ×`,
  met: found <= limit,
})

/** One part of the benchmark: what it found, as JSON, and the targets that depend on it. */
export type Part = (context: Context) => Promise<{ results: unknown; targets?: readonly Target[] }>
