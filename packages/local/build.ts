import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BUNDLING, STORES_PLUGIN } from '@order-relay/deploy/bundle.ts'
import { context, formatMessages, type Message, type Plugin } from 'esbuild'

type BuildOptions = {
  serviceDir: string
  /** The functions' handlers, such as `functions/webhook.handler`. */
  handlers: readonly string[]
  /** The output directory, emptied first. */
  outdir: string
  /**
   * Called after each rebuild that a change of the source causes. It calls `write` while no function is being loaded,
   * since a function loaded during the write would mix old and new code. Without it, sources are not watched.
   */
  onRebuilt: ((write: () => Promise<void>) => Promise<void>) | undefined
}

export type Build = { close: () => Promise<void> }

/** An entry point for each handler, which runs it with {@link asLambda}. */
const entries: Plugin = {
  name: 'entries',
  setup: build => {
    build.onResolve({ filter: /^lambda:/ }, ({ path }) => ({ path: path.slice(7), namespace: 'lambda' }))
    build.onLoad({ filter: /.*/, namespace: 'lambda' }, ({ path: handler }) => {
      const dot = handler.lastIndexOf('.')
      const [file, name] = [`./${handler.slice(0, dot)}.ts`, handler.slice(dot + 1)]
      return {
        contents:
          `import { asLambda } from ${JSON.stringify(join(import.meta.dirname, 'runtime.ts'))}\n` +
          `import { ${name} as handler } from ${JSON.stringify(file)}\n` +
          `const run = asLambda(handler)\nexport { run as ${name} }\n`,
        resolveDir: build.initialOptions.absWorkingDir ?? '.',
      }
    })
  },
}

/**
 * Builds all functions at once for serverless-offline. Shared code is built and loaded once, in a fifth of the time
 * of separate bundles.
 *
 * @throws Error if a function cannot be built; the reason has been printed
 */
export const buildFunctions = async (options: BuildOptions): Promise<Build> => {
  const { serviceDir, handlers, outdir, onRebuilt } = options
  const first = Promise.withResolvers<boolean>()
  let built = false
  const notify: Plugin = {
    name: 'notify',
    setup: build =>
      build.onEnd(async ({ errors, warnings, outputFiles = [] }) => {
        // While the relay runs, the plugin reports an error in stores.yml once, without a place in the source.
        const isReported = ({ pluginName }: Message) => built && pluginName === STORES_PLUGIN
        const shown = [
          ...(await formatMessages(
            errors.filter(error => !isReported(error)),
            { kind: 'error' },
          )),
          ...(await formatMessages(warnings, { kind: 'warning' })),
        ]
        process.stderr.write(shown.join(''))
        if (errors.length === 0) {
          const write = async () => {
            await Promise.all(
              outputFiles.map(async ({ path, contents }) => {
                await mkdir(dirname(path), { recursive: true })
                await writeFile(path, contents)
              }),
            )
          }
          await (built && onRebuilt !== undefined ? onRebuilt(write) : write())
        }
        built = true
        first.resolve(errors.length === 0)
      }),
  }

  await rm(outdir, { recursive: true, force: true })
  const building = await context({
    ...BUNDLING,
    sourcemap: true,
    absWorkingDir: serviceDir,
    entryPoints: Object.fromEntries(
      handlers.map(handler => [handler.slice(0, handler.lastIndexOf('.')), `lambda:${handler}`]),
    ),
    outdir,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    plugins: [entries, ...BUNDLING.plugins, notify],
    // esbuild would delete the previous build if the next one fails.
    write: false,
    logLevel: 'silent',
  })
  if (onRebuilt === undefined) await building.rebuild().catch(() => undefined)
  else await building.watch()
  if (!(await first.promise)) {
    await building.dispose()
    throw new Error('Cannot build the functions: see above')
  }
  return { close: () => building.dispose() }
}
