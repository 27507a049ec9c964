import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { type ZipOptions, zipSync } from 'fflate'

type Lambda = { handler: string; package?: Record<string, unknown> }

/** What this plugin uses of osls. */
type Serverless = {
  serviceDir: string
  service: {
    functions: Record<string, Lambda>
    custom: { esbuild: Omit<BuildOptions, 'plugins'> & { outputFileExtension: string; plugins: string } }
  }
}

/** A fixed date, so that unchanged code gives the same zip and is not deployed again; readable by everyone, as on Unix. */
const ZIP: ZipOptions = { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o100644 * 2 ** 16 }

/**
 * Bundles each function with the options of `custom.esbuild` in serverless.yml and packages it as a zip of one file.
 * serverless-esbuild does the same with 100 packages of 85 MB.
 */
export default class PackagePlugin {
  readonly hooks: Record<string, () => Promise<void>>

  constructor({ serviceDir, service }: Serverless) {
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
    this.hooks = {
      'before:package:createDeploymentArtifacts': pack,
      'before:deploy:function:packageFunction': pack,
    }
  }
}
