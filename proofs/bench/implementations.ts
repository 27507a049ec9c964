import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { bundle, zipped } from '../../deploy/bundle.ts'

/** A measured implementation: a function of the relay, or a peer. */
export type Implementation = {
  name: string
  /** Its source, without extension. */
  entry: string
  /** Bundled with the options of Powertools' documentation, which are ours, and without our esbuild plugins. */
  asDocumented?: true
}

export const relay: Implementation = { name: 'relay', entry: 'functions/webhook' }
export const worker: Implementation = { name: 'worker', entry: 'functions/worker' }

/** Responds immediately: the cost of Node and the runtime client. */
export const empty: Implementation = { name: 'empty', entry: 'proofs/bench/peers/empty', asDocumented: true }

/** Peer (b): middy and Powertools, as their documentation shows and bundles them. */
export const stack: Implementation = {
  name: 'powertools stack',
  entry: 'proofs/bench/peers/powertools',
  asDocumented: true,
}

/** The same peer with the service's esbuild plugins. */
export const leanStack: Implementation = { name: 'powertools stack, our bundling', entry: stack.entry }

/** Peer (c): one plain handler, its secret in the environment. */
export const tutorial: Implementation = {
  name: 'tutorial',
  entry: 'proofs/bench/peers/tutorial',
  asDocumented: true,
}

/** A function ready to run: a folder as Lambda unpacks it, and the handler in it. */
export type Bundle = { folder: string; handler: string; bytes: number; zipBytes: number }

/** Bundles as a deployment does. */
export const makeBundle = async (
  { entry, asDocumented }: Implementation,
  folder: string,
): Promise<Bundle> => {
  const { code } = await bundle(entry, asDocumented && [])
  const file = join(folder, `${entry}.mjs`)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, code)
  return { folder, handler: `${entry}.handler`, bytes: code.length, zipBytes: zipped(entry, code).length }
}
