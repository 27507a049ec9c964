import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { unzipSync, zipSync } from 'fflate'
import { ROOT, readService } from '../cli/core/stack.ts'
import { bundle } from '../deploy/package.ts'

/** A function ready to run: a folder as Lambda unpacks it, and the handler in it. */
export type Bundle = { folder: string; handler: string; bytes: number; zipBytes: number }

/** Zips of the service's functions, by function. */
export type Zips = ReadonlyMap<string, Buffer>

/** What is measured: a function of the service, out of the package that a deployment uploads, or a peer. */
export type Implementation = { name: string } & ({ packaged: string } | { entry: string; plugins: boolean })

export const relay: Implementation = { name: 'relay', packaged: 'webhook' }
export const worker: Implementation = { name: 'worker', packaged: 'worker' }

/** Answers at once and does nothing: what Node and the runtime client cost. */
export const empty: Implementation = { name: 'empty', entry: 'bench/peers/empty', plugins: false }

/** Peer (b): middy and Powertools, as their documentation shows and bundles them. */
export const stack: Implementation = {
  name: 'powertools stack',
  entry: 'bench/peers/powertools',
  plugins: false,
}

/** The same peer with the service's esbuild plugins. */
export const leanStack: Implementation = { ...stack, name: 'powertools stack, our bundling', plugins: true }

/** Peer (c): one plain handler, its secret in the environment. */
export const tutorial: Implementation = {
  name: 'tutorial',
  entry: 'bench/peers/tutorial',
  plugins: false,
}

/** Bundles a peer with the options of serverless.yml, which are those of Powertools' documentation too. */
const bundled = async (entry: string, withPlugins: boolean, folder: string): Promise<Bundle> => {
  const { esbuild } = readService().custom
  const options = withPlugins ? esbuild : { ...esbuild, plugins: 'bench/peers/no-plugins.ts' }
  const { code } = await bundle(ROOT, options, entry)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'index.mjs'), code)
  const zipBytes = zipSync({ 'index.mjs': code }, { level: 9 }).length
  return { folder, handler: 'index.handler', bytes: code.length, zipBytes }
}

/** Packages the service as a deployment does. */
export const packageService = async (folder: string): Promise<Zips> => {
  await promisify(execFile)('npx', ['serverless', 'package', '--stage', 'local', '--package', folder])
  const names = (await readdir(folder)).filter(name => name.endsWith('.zip'))
  return new Map(
    await Promise.all(
      names.map(async name => [basename(name, '.zip'), await readFile(join(folder, name))] as const),
    ),
  )
}

const unpacked = async (zip: Buffer, name: string, folder: string): Promise<Bundle> => {
  const files = Object.entries(unzipSync(zip)).filter(([path]) => !path.endsWith('/'))
  for (const [path, content] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  const bytes = files.reduce((sum, [, content]) => sum + content.length, 0)
  return { folder, handler: `functions/${name}.handler`, bytes, zipBytes: zip.length }
}

export const makeBundle = async (
  implementation: Implementation,
  zips: () => Promise<Zips>,
  folder: string,
): Promise<Bundle> => {
  if ('entry' in implementation) return bundled(implementation.entry, implementation.plugins, folder)
  const zip = (await zips()).get(implementation.packaged)
  if (zip === undefined) throw new Error(`Cannot measure: the package has no ${implementation.packaged}.zip`)
  return unpacked(zip, implementation.packaged, folder)
}
