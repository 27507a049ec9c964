import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { type ZipOptions, zipSync } from 'fflate'
import { assertDeployable } from './settings.ts'
import { readStores } from './stores.ts'

type Lambda = {
  handler: string
  package?: Record<string, unknown>
  environment?: Record<string, unknown>
}

/** What this plugin uses of osls. */
type Serverless = {
  serviceDir: string
  /** An error of this class is shown without its stack. */
  classes: { Error: new (message: string) => Error }
  service: {
    provider: { stage: string; environment: Record<string, unknown> }
    functions: Record<string, Lambda>
    custom: { esbuild: Omit<BuildOptions, 'plugins'> & { outputFileExtension: string; plugins: string } }
  }
}

/** A fixed date, so that unchanged code gives the same zip and is not deployed again; readable by everyone, as on Unix. */
const ZIP: ZipOptions = { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o100644 * 2 ** 16 }

/**
 * Checks the settings of a deployment, then bundles each function with the options of `custom.esbuild` in
 * serverless.yml and packages it as a zip of one file. serverless-esbuild bundles with 100 packages of 85 MB.
 */
export default class PackagePlugin {
  readonly hooks: Record<string, () => Promise<void>>

  constructor({ serviceDir, service, classes }: Serverless) {
    const { outputFileExtension, plugins, ...bundling } = service.custom.esbuild

    const artifact = async (name: string, handler: string) => {
      const source = handler.slice(0, handler.lastIndexOf('.'))
      const { outputFiles } = await build({
        ...bundling,
        absWorkingDir: serviceDir,
        entryPoints: [`${source}.ts`],
        platform: 'node',
        plugins: (await import(pathToFileURL(join(serviceDir, plugins)).href)).default,
        write: false,
      })
      const folder = join(serviceDir, '.serverless')
      await mkdir(folder, { recursive: true })
      const path = join(folder, `${name}.zip`)
      const code = outputFiles[0]?.contents ?? new Uint8Array()
      await writeFile(path, zipSync({ [`${source}${outputFileExtension}`]: code }, ZIP))
      return path
    }

    const pack = async () => {
      for (const [name, lambda] of Object.entries(service.functions)) {
        lambda.package = { ...lambda.package, artifact: await artifact(name, lambda.handler) }
      }
    }
    const check = async () => {
      try {
        assertDeployable({
          stage: service.provider.stage,
          accountingUrl: String(service.provider.environment.ACCOUNTING_URL),
          feedAddresses: String(service.functions.feeder?.environment?.FEED_ADDRESSES),
          stores: readStores(join(serviceDir, 'stores.yml')),
        })
      } catch (error) {
        throw new classes.Error(error instanceof Error ? error.message : String(error))
      }
    }
    this.hooks = {
      'before:package:cleanup': check,
      'before:package:createDeploymentArtifacts': pack,
      'before:deploy:function:initialize': check,
      'before:deploy:function:packageFunction': pack,
    }
  }
}
