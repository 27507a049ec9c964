import { hash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { type ZipOptions, zipSync } from 'fflate'
import * as v from 'valibot'
import { assertDeployable } from './settings.ts'
import { addAliases, isGradual, prepareShift, type Versioned } from './shift.ts'
import { readStores } from './stores.ts'

type Values = Record<string, unknown>
type Lambda = Versioned & {
  handler: string
  package?: Record<string, unknown>
  environment?: Record<string, unknown>
}

/** What this plugin uses of osls. */
type Provider = {
  getServerlessDeploymentBucketName: () => Promise<string>
  getDeploymentPrefix: () => string
}
type Serverless = {
  serviceDir: string
  getProvider: (name: 'aws') => Provider
  /** An error of this class is shown without its stack. */
  classes: { Error: new (message: string) => Error }
  service: {
    service: string
    provider: {
      stage: string
      environment: Record<string, unknown>
      compiledCloudFormationTemplate: {
        Resources: Record<string, { Type: string; Properties: Values }>
        Outputs?: Values
      }
      /** Nothing has changed since the last deployment. */
      shouldNotDeploy?: boolean
    }
    functions: Record<string, Lambda>
    custom: { esbuild: Bundling; shift: string; ordersTable: string; domain: string; certificateArn: string }
  }
}

const uploadS3Object: (
  provider: Provider,
  object: Record<'Bucket' | 'Key' | 'Body', string>,
) => Promise<void> = createRequire(import.meta.url)('serverless/lib/plugins/aws/lib/upload-s3-object')

const templateUrl = v.object({ 'Fn::Sub': v.string() })

type Bundling = Omit<BuildOptions, 'plugins'> & { outputFileExtension: string; plugins: string }

/**
 * Bundles a function as a deployment does. Its source map stays out of the zip: Node would read it at every cold
 * start. `relay tail --verbose` makes it again from the same commit.
 *
 * @param source of the function, without extension: `functions/webhook`
 */
export const bundle = async (
  serviceDir: string,
  { outputFileExtension, plugins, ...options }: Bundling,
  source: string,
) => {
  const { outputFiles } = await build({
    ...options,
    absWorkingDir: serviceDir,
    entryPoints: [`${source}.ts`],
    outfile: `${source}${outputFileExtension}`,
    sourcemap: 'external',
    platform: 'node',
    plugins: (await import(pathToFileURL(join(serviceDir, plugins)).href)).default,
    write: false,
  })
  const file = (isMap: boolean) => outputFiles.find(({ path }) => path.endsWith('.map') === isMap)
  return { code: file(false)?.contents ?? new Uint8Array(), map: file(true)?.text ?? '' }
}

/** A fixed date, so that unchanged code gives the same zip and is not deployed again; readable by everyone, as on Unix. */
const ZIP: ZipOptions = { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o100644 * 2 ** 16 }

/**
 * Checks the settings of a deployment, then bundles each function with the options of `custom.esbuild` in
 * serverless.yml and packages it as a zip of one file. serverless-esbuild bundles with 100 packages of 85 MB.
 *
 * The templates of nested stacks, which deploy/cloudformation.ts puts in place of their URLs, are uploaded beside
 * the directories of the deployments, under a hash, so that an unchanged one keeps its URL.
 */
export default class PackagePlugin {
  readonly hooks: Record<string, () => Promise<void>>

  constructor(serverless: Serverless) {
    const { serviceDir, service, classes } = serverless
    const { esbuild } = service.custom
    const folder = join(serviceDir, '.serverless')
    const nestedStacks = () =>
      Object.entries(service.provider.compiledCloudFormationTemplate.Resources).filter(
        ([, { Type }]) => Type === 'AWS::CloudFormation::Stack',
      )
    const keyOf = (file: string) =>
      `${serverless.getProvider('aws').getDeploymentPrefix()}/${service.service}/${service.provider.stage}/${file}`

    const extractTemplates = async () => {
      for (const [id, { Properties }] of nestedStacks()) {
        const template = JSON.stringify(Properties.TemplateURL)
        const file = `${id}-${hash('sha256', template).slice(0, 12)}.json`
        await writeFile(join(folder, file), template)
        Properties.TemplateURL = {
          'Fn::Sub': `https://s3.\${AWS::Region}.\${AWS::URLSuffix}/\${ServerlessDeploymentBucket}/${keyOf(file)}`,
        }
      }
    }
    const uploadTemplates = async () => {
      if (service.provider.shouldNotDeploy) return
      const provider = serverless.getProvider('aws')
      const Bucket = await provider.getServerlessDeploymentBucketName()
      for (const [, { Properties }] of nestedStacks()) {
        const file = basename(v.parse(templateUrl, Properties.TemplateURL)['Fn::Sub'])
        await uploadS3Object(provider, {
          Bucket,
          Key: keyOf(file),
          Body: await readFile(join(folder, file), 'utf8'),
        })
      }
    }

    const artifact = async (name: string, handler: string) => {
      const source = handler.slice(0, handler.lastIndexOf('.'))
      const { code } = await bundle(serviceDir, esbuild, source)
      await mkdir(folder, { recursive: true })
      const path = join(folder, `${name}.zip`)
      await writeFile(path, zipSync({ [`${source}${esbuild.outputFileExtension}`]: code }, ZIP))
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
          accountingTimeZone: String(service.functions.api?.environment?.ACCOUNTING_TIME_ZONE),
          waitSeconds: String(service.functions.api?.environment?.WAIT_SECONDS),
          shift: service.custom.shift,
          ordersTable: service.custom.ordersTable,
          domain: service.custom.domain,
          certificateArn: service.custom.certificateArn,
          stores: readStores(join(serviceDir, 'stores.yml')),
        })
      } catch (error) {
        throw new classes.Error(error instanceof Error ? error.message : String(error))
      }
    }
    const isShifted = () => isGradual(service.custom.shift)
    const checkFunction = async () => {
      await check()
      if (isShifted())
        throw new classes.Error(
          'Cannot deploy a single function: its alias would keep the version it has; run npx serverless deploy',
        )
    }
    this.hooks = {
      'before:package:cleanup': check,
      'before:package:createDeploymentArtifacts': pack,
      'before:package:compileFunctions': async () => {
        if (isShifted()) prepareShift(service.functions)
      },
      'before:aws:package:finalize:mergeCustomProviderResources': async () => {
        const { stage, compiledCloudFormationTemplate } = service.provider
        if (isShifted()) addAliases(compiledCloudFormationTemplate, service.functions, stage)
      },
      'after:aws:package:finalize:mergeCustomProviderResources': extractTemplates,
      'before:aws:deploy:deploy:validateTemplate': uploadTemplates,
      'before:deploy:function:initialize': checkFunction,
      'before:deploy:function:packageFunction': pack,
    }
  }
}
