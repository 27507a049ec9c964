import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as v from 'valibot'
import { parse } from 'yaml'
import { buildFunctions } from '../../local/build.ts'

const PROJECT = join(import.meta.dirname, '../..')
const HANDLERS = ['functions/webhook.handler', 'functions/worker.handler']

const serverless = v.looseObject({
  custom: v.looseObject({ esbuild: v.looseObject({ outputFileExtension: v.string() }) }),
})

/** Bundles the receiver and the worker with the options of serverless.yml; answers with where they are. */
export const bundleFunctions = async (outdir: string) => {
  const text = await readFile(join(PROJECT, 'serverless.yml'), 'utf8')
  const { custom } = v.parse(serverless, parse(text, { logLevel: 'error' }))
  const build = await buildFunctions({
    serviceDir: PROJECT,
    esbuild: custom.esbuild,
    handlers: HANDLERS,
    outdir,
    onRebuilt: undefined,
  })
  await build.close()
  const url = (name: string) =>
    pathToFileURL(join(outdir, `functions/${name}${custom.esbuild.outputFileExtension}`)).href
  return { webhook: url('webhook'), worker: url('worker') }
}
