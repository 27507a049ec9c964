// Leaves parts of AWS's SDK that Lambda never needs out of the bundles: they would be read and compiled at every cold
// start. docs/performance.md has the measurements.

import { readFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { dirname } from 'node:path'
import type { Metafile, Plugin } from 'esbuild'
import * as v from 'valibot'

type Rewrite = (source: string) => string

// Read once, as the SDK's own chain does: Lambda never changes them while a function runs.
const CREDENTIALS = `
import { fromEnv } from '@aws-sdk/credential-provider-env'
import { CredentialsProviderError } from '@smithy/core/config'
export const defaultProvider = init => {
  let credentials
  return async () => {
    try {
      credentials ??= await fromEnv(init)()
      return credentials
    } catch (cause) {
      const message = 'Cannot sign the request: AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set; ' +
        'this bundle takes credentials only from the environment'
      throw Object.assign(new CredentialsProviderError(message, { tryNextLink: false }), { cause })
    }
  }
}`

const FROM_ENVIRONMENT = `
import { memoize } from '../property-provider/memoize'
const found = (select, options) => {
  try {
    return select(process.env, options)
  } catch {
    return undefined
  }
}
export const loadConfig = ({ environmentVariableSelector, default: fallback }, { signingName, logger } = {}) =>
  memoize(async () => {
    const value = found(environmentVariableSelector, { signingName, logger })
    return value === undefined && typeof fallback === 'function' ? fallback() : (value ?? fallback)
  })`

const NO_ENDPOINT_DISCOVERY = `
export { NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS } from './configurations'
export const resolveEndpointDiscoveryConfig = config => config`

const NO_LOGGER = `
export const loggerMiddleware = () => next => next
export const loggerMiddlewareOptions = {}
export const getLoggerPlugin = () => ({ applyToStack: () => undefined })`

const NO_EVENT_STREAMS = `
export class EventStreamSerde {
  constructor() {
    throw new Error('Cannot open an event stream: deploy/lambda-sdk.ts leaves event streams out of the bundle')
  }
}
export const eventStreamSerdeProvider = undefined`

/** The exceptions of Systems Manager that remain classes. The others become SSMServiceException with the same name. */
const PARAMETER_STORE = /^(?:Parameter|InvalidKeyId|InternalServerError|ThrottlingException)/

const NAMED = /^n0_registry\.registerError\((\w+)\$, \w+\);$/gm
const SCHEMA = /^((?:export )?var [\w$]+ = )(\[(?:.*\]|[\s\S]*?^\]));$/gm

const replaced = (source: string, pattern: RegExp, by: (...groups: string[]) => string): string => {
  const found = source.replace(pattern, by)
  if (found === source) throw new Error(`Cannot find ${pattern} in it`)
  return found
}

/**
 * Lets the bundler drop the schemas that no used command refers to. Computed keys would keep them, since evaluating
 * those could have side effects.
 */
const pureSchemas: Rewrite = source =>
  replaced(source, SCHEMA, (_, declaration, schema) => `${declaration}/* @__PURE__ */ (() => ${schema})();`)

const onlyParameterStore: Rewrite = source =>
  pureSchemas(
    replaced(source, NAMED, (statement = '', name = '') => (PARAMETER_STORE.test(name) ? statement : '')),
  )

const onlyVersion: Rewrite = source =>
  `export default ${JSON.stringify(v.parse(v.object({ version: v.string() }), JSON.parse(source)))}`

const CONFIG = '@smithy/core/dist-es/submodules/config'

/** Modules by their path in node_modules; `<client>` stands for each client. */
const REWRITES: Readonly<Record<string, Rewrite>> = {
  '@aws-sdk/credential-provider-node/dist-es/index.js': () => CREDENTIALS,
  // Settings that are not in the environment get their defaults immediately, without a search for files or an error.
  [`${CONFIG}/node-config-provider/configLoader.js`]: () => FROM_ENVIRONMENT,
  // Called when AWS_REGION is not set.
  [`${CONFIG}/config-resolver/regionConfig/getInstanceMetadataRegion.js`]: () =>
    'export const getInstanceMetadataRegion = async () => undefined',
  '@smithy/core/dist-es/submodules/event-streams/index.js': () => NO_EVENT_STREAMS,
  // Copies each input and output for a logger, which the functions do not set.
  '@aws-sdk/core/dist-es/submodules/client/middleware-logger/loggerMiddleware.js': () => NO_LOGGER,
  // Bodies are strings and Node streams. Accessing the globals makes Node load web streams and Blob.
  '@smithy/core/dist-es/submodules/serde/util-stream/stream-type-check.js': () =>
    'export const isReadableStream = () => false; export const isBlob = () => false',
  // The fallback where Node has no SHA-256. The fallback for MD5 stays: SQS uses MD5, and OpenSSL can be set up
  // without it.
  '@smithy/core/dist-es/submodules/checksum/sha256/Sha256Js.js': () => 'export const Sha256Js = undefined',
  '<client>/package.json': onlyVersion,
  '<client>/dist-es/schemas/schemas_0.js': pureSchemas,
}

/** Modules of single clients; these take precedence. */
const REWRITES_OF: Readonly<Record<string, Readonly<Record<string, Rewrite>>>> = {
  '@aws-sdk/client-dynamodb': {
    '@aws-sdk/middleware-endpoint-discovery/dist-es/index.js': () => NO_ENDPOINT_DISCOVERY,
  },
  '@aws-sdk/client-ssm': { '@aws-sdk/client-ssm/dist-es/schemas/schemas_0.js': onlyParameterStore },
}

/** Modules that must not be in a bundle. */
const LEFT_OUT: readonly RegExp[] = [
  /^@aws-sdk\/credential-provider-(?!env\/|node\/dist-es\/index\.js$)/,
  /^@aws-sdk\/(?:nested-clients|token-providers|endpoint-cache|signature-v4-multi-region|xml-builder)\//,
  /^@smithy\/credential-provider-imds\//,
  /shared-ini-file-loader\/(?:read|load|parse)/,
  /event-streams\/eventstream-/,
]

const CLIENT = /^@aws-sdk\/client-[a-z0-9-]+/

const inModules = (path: string): string => path.replaceAll('\\', '/').replace(/^.*node_modules\//, '')
const clientOf = (path: string): string | undefined => CLIENT.exec(path)?.[0]

const rewriteOf = (path: string): Rewrite | undefined => {
  const own = Object.values(REWRITES_OF).find(rewrites => path in rewrites)?.[path]
  return own ?? REWRITES[path] ?? REWRITES[path.replace(CLIENT, '<client>')]
}

const expected = (clients: readonly string[]): string[] => [
  ...Object.keys(REWRITES).flatMap(path =>
    path.startsWith('<client>') ? clients.map(client => path.replace('<client>', client)) : [path],
  ),
  ...clients.flatMap(client => Object.keys(REWRITES_OF[client] ?? {})),
]

/** The problems of a bundle; none if it contains no SDK client. */
const faults = ({ inputs, outputs }: Metafile, rewritten: ReadonlySet<string>): string[] => {
  const clients = [...new Set(Object.keys(inputs).flatMap(path => clientOf(inModules(path)) ?? []))]
  if (clients.length === 0) return []
  const bundled = Object.values(outputs).flatMap(output =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [inModules(path)] : [],
    ),
  )
  return [
    ...expected(clients)
      .filter(path => !rewritten.has(path))
      .map(path => `${path} is no longer loaded`),
    ...bundled
      .filter(path => LEFT_OUT.some(pattern => pattern.test(path)))
      .map(path => `${path} is in the bundle`),
  ]
}

/**
 * The esbuild plugin. The build fails if a rewritten module has moved, so that an upgrade of the SDK cannot make the
 * bundles grow unnoticed. Functions behave the same without the plugin.
 */
export const lambdaSdk: Plugin = {
  name: 'lambda-sdk',
  setup(build) {
    build.initialOptions.metafile = true
    const rewritten = new Set<string>()

    // An import of a built-in as an ES module reads each of its exports, and some load large parts of Node: with
    // WebSocket, node:http loads undici.
    const names = builtinModules.map(name => name.replace(/^node:/, '')).join('|')
    build.onResolve({ filter: new RegExp(`^(?:node:)?(?:${names})$`) }, ({ path }) => ({
      path: path.replace(/^node:/, ''),
      namespace: 'builtin',
    }))
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('node:${path}')`,
    }))

    build.onLoad({ filter: /[\\/]node_modules[\\/]@(?:aws-sdk|smithy)[\\/]/ }, async ({ path }) => {
      const name = inModules(path)
      const rewrite = rewriteOf(name)
      if (rewrite === undefined) return undefined
      rewritten.add(name)
      return { contents: rewrite(await readFile(path, 'utf8')), loader: 'js', resolveDir: dirname(path) }
    })

    build.onEnd(({ metafile, errors }) => {
      const found = metafile === undefined || errors.length > 0 ? [] : faults(metafile, rewritten)
      return {
        errors: found.map(fault => ({
          text: `Cannot leave out what Lambda does not need: ${fault}; update deploy/lambda-sdk.ts for this version of the SDK`,
        })),
      }
    })
  },
}
