import type { Plugin } from 'esbuild'
import { lambdaSdk } from './lambda-sdk.ts'
import { readStores } from './stores.ts'

/**
 * Bundles stores.yml as a validated constant: functions start without a YAML parser, and a mistake in the file
 * stops the deployment, not an order.
 */
const storesFile: Plugin = {
  name: 'stores.yml',
  setup: build =>
    build.onLoad({ filter: /stores\.yml$/ }, ({ path }) => ({
      contents: JSON.stringify(readStores(path)),
      loader: 'json',
      watchFiles: [path],
    })),
}

export default [storesFile, lambdaSdk]
