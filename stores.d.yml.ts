// stores.yml is validated when the functions are bundled, see deploy/bundle.ts.
import type { Store } from './lib/platform/stores.ts'

declare const stores: readonly Store[]
export default stores
