import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { build, type Plugin } from 'esbuild'
import { unzipSync, zipSync } from 'fflate'
import * as v from 'valibot'
import { parseDocument } from 'yaml'
import type { Implementation } from './implementations.ts'

/** A function ready to run: a folder as Lambda unpacks it, and the handler in it. */
export type Bundle = { folder: string; handler: string; bytes: number; zipBytes: number }

const settings = v.object({
  bundle: v.boolean(),
  minify: v.boolean(),
  format: v.picklist(['esm', 'cjs']),
  target: v.string(),
  mainFields: v.array(v.string()),
  plugins: v.string(),
})

/** How serverless.yml has the functions bundled: the peers are bundled in no other way. */
const bundlerSettings = async () => {
  const file = parseDocument(await readFile('serverless.yml', 'utf8'), { logLevel: 'silent' })
  return v.parse(
    settings,
    v.parse(v.object({ custom: v.object({ esbuild: settings }) }), file.toJS()).custom.esbuild,
  )
}

const standIns = (instead: Readonly<Record<string, string>>): Plugin => ({
  name: 'stand-ins',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const found = Object.entries(instead).find(([file]) => resolve(file) === path)
      if (found === undefined) return undefined
      const other = resolve(found[1])
      return { contents: await readFile(other, 'utf8'), loader: 'ts', resolveDir: dirname(other) }
    }),
})

/** Bundles an implementation into a folder. */
export const bundled = async ({ entry, instead = {} }: Implementation, folder: string): Promise<Bundle> => {
  const { plugins, ...options } = await bundlerSettings()
  const ours: Plugin[] = createRequire(import.meta.url)(resolve(plugins))
  const outfile = join(folder, 'index.mjs')
  await build({
    ...options,
    platform: 'node',
    entryPoints: [entry],
    outfile,
    plugins: [standIns(instead), ...ours],
    logLevel: 'error',
  })
  const code = await readFile(outfile)
  return {
    folder,
    handler: 'index.handler',
    bytes: code.length,
    zipBytes: zipSync({ 'index.mjs': code }, { level: 9 }).length,
  }
}

/** Packages the service as a deployment does and answers with the zips, by function. */
export const packaged = async (root: string): Promise<ReadonlyMap<string, Buffer>> => {
  const names = ['webhook', 'orders', 'worker', 'feeder', 'reconcile']
  await promisify(execFile)('npx', ['serverless', 'package', '--stage', 'local', '--package', root])
  return new Map(
    await Promise.all(names.map(async name => [name, await readFile(join(root, `${name}.zip`))] as const)),
  )
}

/** Unpacks the zip of a function into a folder, as Lambda does. */
export const unpacked = async (zip: Buffer, name: string, folder: string): Promise<Bundle> => {
  const files = Object.entries(unzipSync(zip)).filter(([path]) => !path.endsWith('/'))
  for (const [path, content] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  const bytes = files.reduce((sum, [, content]) => sum + content.length, 0)
  return { folder, handler: `functions/${name}.handler`, bytes, zipBytes: zip.length }
}
