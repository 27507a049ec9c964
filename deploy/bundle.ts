import { join } from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { type ZipOptions, zipSync } from 'fflate'
import { lambdaSdk } from './lambda-sdk.ts'
import { readStores } from './stores.ts'

export const STORES_PLUGIN = 'stores.yml'

/**
 * Bundles stores.yml as a validated constant: functions start without a YAML parser, and an error in the file fails the
 * deployment instead of an order.
 */
const storesFile: Plugin = {
  name: STORES_PLUGIN,
  setup: build => {
    // esbuild would report a missing file once for each import.
    build.onResolve({ filter: /stores\.yml$/ }, ({ path, resolveDir }) => ({ path: join(resolveDir, path) }))
    build.onLoad({ filter: /stores\.yml$/ }, ({ path }) => {
      const watchFiles = [path]
      try {
        return { contents: JSON.stringify(readStores(path)), loader: 'json', watchFiles }
      } catch (error) {
        // esbuild prints the stack of a thrown error as well.
        return { errors: [{ text: error instanceof Error ? error.message : String(error) }], watchFiles }
      }
    })
  },
}

/** How the functions are bundled, on AWS and in the local stack. */
export const BUNDLING: BuildOptions & { plugins: Plugin[] } = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  plugins: [storesFile, lambdaSdk],
}

/**
 * Bundles a function as a deployment does. Its source map is not in the zip: Node would read it at every cold start.
 * `relay tail --verbose` rebuilds it from the same commit.
 *
 * @param source path of the function without extension: `functions/webhook`
 */
export const bundle = async (source: string, plugins = BUNDLING.plugins) => {
  const { outputFiles } = await build({
    ...BUNDLING,
    plugins,
    minify: true,
    absWorkingDir: join(import.meta.dirname, '..'),
    entryPoints: [`${source}.ts`],
    outfile: `${source}.mjs`,
    sourcemap: 'external',
    write: false,
  })
  const file = (isMap: boolean) => outputFiles.find(({ path }) => path.endsWith('.map') === isMap)
  return { code: file(false)?.contents ?? new Uint8Array(), map: file(true)?.text ?? '' }
}

/** A fixed date, so that unchanged code gives the same zip and is not deployed again; world-readable. */
const ZIP: ZipOptions = { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o100644 * 2 ** 16 }

/** The zip that Lambda loads. */
export const zipped = (source: string, code: Uint8Array) => zipSync({ [`${source}.mjs`]: code }, ZIP)
