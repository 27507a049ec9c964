// stores.yml is read and checked when the functions are bundled, see deploy/esbuild-plugins.cjs.
import type { Store } from './lib/stores.ts'

declare const stores: readonly Store[]
export default stores
