import { stripTypeScriptTypes } from 'node:module'

/** Node's own type stripping, so that a test sees what Lambda's Node sees. Positions stay as they are in the source. */
export default { process: source => ({ code: stripTypeScriptTypes(source) }) }
