import { readFileSync } from 'node:fs'
import { createRequire, registerHooks, stripTypeScriptTypes } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import circus from 'jest-circus/runner'

const ROOT = new URL('../../', import.meta.url).href
const GLOBALS = new URL('globals.mjs', import.meta.url).href
const suiteOf = (url = '') => /\?suite=\d+$/.exec(url)?.[0] ?? ''
let suites = 0

// For programs started by tests. In this process it would retain the modules of every suite.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/order-relay', ROOT))

/** Cached, since stripping takes longer than the rest of loading a project module. */
const stripped = new Map()
const strip = source => {
  if (!stripped.has(source)) stripped.set(source, stripTypeScriptTypes(source))
  return stripped.get(source)
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    const suite = suiteOf(context.parentURL)
    if (specifier === '@jest/globals') return { url: `${GLOBALS}${suite}`, shortCircuit: true }
    const resolved = nextResolve(specifier, context)
    const isOurs = resolved.url.startsWith(ROOT) && !resolved.url.includes('/node_modules/')
    return isOurs && suiteOf(resolved.url) === '' ? { ...resolved, url: `${resolved.url}${suite}` } : resolved
  },
  load(url, context, nextLoad) {
    if (!url.includes('.ts?suite=')) return nextLoad(url, context)
    return { format: 'module', source: strip(readFileSync(fileURLToPath(url), 'utf8')), shortCircuit: true }
  },
})

const require = createRequire(import.meta.url)

/**
 * Jest's runner with Node's loader: each suite has its own project modules, as in Jest, but shares packages with the
 * other suites of its process. Jest would compile the packages again for each suite, which took half of the time of
 * all tests. This replaces internals of Jest, so package.json pins its exact version.
 */
export default async (globalConfig, config, environment, runtime, path, report) => {
  const suite = ++suites
  // The environment's own values belong to the global object of its context.
  const mocks = new environment.moduleMocker.constructor(globalThis)
  const timers = new environment.fakeTimersModern.constructor({ config, global: globalThis })
  const jest = {
    fn: implementation => mocks.fn(implementation),
    spyOn: (object, method) => mocks.spyOn(object, method),
    useFakeTimers: options => timers.useFakeTimers(options),
    useRealTimers: () => timers.useRealTimers(),
    advanceTimersByTimeAsync: milliseconds => timers.advanceTimersByTimeAsync(milliseconds),
  }
  Object.assign(runtime, {
    // The module holds the state of a suite, and its handlers are global.
    requireInternalModule: file => {
      delete require.cache[file]
      Reflect.deleteProperty(globalThis, Symbol.for('EVENT_HANDLERS'))
      return require(file)
    },
    setGlobalsForRuntime: globals => Object.assign(globalThis, globals, { jest }),
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: file => import(`${pathToFileURL(file)}?suite=${suite}`),
  })
  return circus.default(globalConfig, config, environment, runtime, path, report)
}
