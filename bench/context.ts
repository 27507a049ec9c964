import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Bundle, bundled, packaged, unpacked } from './bundles.ts'
import { startCloud } from './cloud/start.ts'
import { type Counts, countCalls } from './counts.ts'
import { type Implementation, ours, worker } from './implementations.ts'
import type { Section } from './report.ts'

/** Remembers what a function without arguments answered. */
const once = <Result>(make: () => Promise<Result>) => {
  let made: Promise<Result> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Our own functions come out of the package that a deployment would upload. */
const PACKAGED: ReadonlyMap<Implementation, string> = new Map([
  [ours, 'webhook'],
  [worker, 'worker'],
])

/** What the parts of the benchmark share; each is made when a part first asks for it. */
export const createContext = async () => {
  const root = await mkdtemp(join(tmpdir(), 'order-relay-bundles-'))
  const cloud = once(startCloud)
  const zips = once(() => packaged(join(root, 'package')))
  const bundles = new Map<Implementation, Promise<Bundle>>()

  const makeBundle = async (implementation: Implementation, folder: string): Promise<Bundle> => {
    const name = PACKAGED.get(implementation)
    if (name === undefined) return bundled(implementation, folder)
    const zip = (await zips()).get(name)
    if (zip === undefined) throw new Error(`Cannot measure: the package has no ${name}.zip`)
    return unpacked(zip, name, folder)
  }
  const bundle = (implementation: Implementation): Promise<Bundle> => {
    const made = bundles.get(implementation) ?? makeBundle(implementation, join(root, String(bundles.size)))
    bundles.set(implementation, made)
    return made
  }
  const counts: () => Promise<Counts> = once(async () => countCalls(await cloud(), bundle))

  return {
    cloud,
    zips,
    bundle,
    /** What each kind of delivery calls; on the way it is verified that each implementation does its job. */
    counts,
    close: async () => {
      await cloud().then(({ close }) => close())
      await rm(root, { recursive: true, force: true })
    },
  }
}

export type Context = Awaited<ReturnType<typeof createContext>>

/** One part of the benchmark. */
export type Part = (context: Context) => Promise<Section>
