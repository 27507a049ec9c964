import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundle, zipped } from '@order-relay/deploy/bundle.ts'

type Lambda = { handler: string; package?: Record<string, unknown> }

/** The parts of osls that this plugin uses. */
type Serverless = { serviceDir: string; service: { functions: Record<string, Lambda> } }

/** Packages each function as a zip of one bundled file, as the relay's are. */
export default class PackagePlugin {
  readonly hooks: Record<string, () => Promise<void>>

  constructor({ serviceDir, service }: Serverless) {
    const folder = join(serviceDir, '.serverless')
    this.hooks = {
      'before:package:createDeploymentArtifacts': async () => {
        await mkdir(folder, { recursive: true })
        for (const [name, lambda] of Object.entries(service.functions)) {
          const source = lambda.handler.replace(/\.\w+$/, '')
          const artifact = join(folder, `${name}.zip`)
          const { code } = await bundle(`connectors/woocommerce/${source}`)
          await writeFile(artifact, zipped(source, code))
          lambda.package = { ...lambda.package, artifact }
        }
      },
    }
  }
}
