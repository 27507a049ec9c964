import { hash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import * as v from 'valibot'
import { bundle, zipped } from './bundle.ts'
import { rolePath } from './cloudformation.ts'
import { assertDeployable, assertParameters, type DeploymentSettings } from './settings.ts'
import { addAliases, isGradual, prepareShift, type Versioned, watchVersions } from './shift.ts'
import { readStores } from './stores.ts'

type Values = Record<string, unknown>
type Lambda = Versioned & {
  handler: string
  package?: Values
}

/** The parts of osls that this plugin uses. */
type Provider = {
  getServerlessDeploymentBucketName: () => Promise<string>
  getDeploymentPrefix: () => string
}
type Serverless = {
  serviceDir: string
  /** The content of serverless.yml; `params` has an object for each stage. */
  configurationInput: { params?: Readonly<Record<string, object>> }
  getProvider: (name: 'aws') => Provider
  /** osls shows an error of this class without a stack trace. */
  classes: { Error: new (message: string) => Error }
  service: {
    service: string
    provider: {
      stage: string
      compiledCloudFormationTemplate: {
        Resources: Record<string, { Type: string; Properties: Values }>
        Outputs?: Values
      }
      /** No function or template changed since the last deployment. */
      shouldNotDeploy?: boolean
    }
    functions: Record<string, Lambda>
    custom: { settings: DeploymentSettings }
  }
}

const uploadS3Object: (
  provider: Provider,
  object: Record<'Bucket' | 'Key' | 'Body', string>,
) => Promise<void> = createRequire(import.meta.url)('serverless/lib/plugins/aws/lib/upload-s3-object')

const role = v.looseObject({ Type: v.literal('AWS::IAM::Role'), Properties: v.looseObject({}) })

/**
 * Puts all roles of a template and its nested templates below the stage's path, with the permissions boundary, if any:
 * the deployer's policy allows no others. Includes roles that osls adds.
 */
const confineRoles = (value: unknown, stage: string, PermissionsBoundary: string): void => {
  if (v.is(role, value))
    Object.assign(value.Properties, {
      Path: rolePath(stage),
      ...(PermissionsBoundary !== '' && { PermissionsBoundary }),
    })
  else if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) confineRoles(each, stage, PermissionsBoundary)
}

const templateUrl = v.object({ 'Fn::Sub': v.string() })

/** The parameter that confirms a removal. */
const CONFIRMATION = 'remove'

/**
 * Checks the settings of a deployment, then bundles each function and packages it as a zip of one file.
 * The alternative, serverless-esbuild, would install 100 packages (85 MB).
 *
 * The templates of nested stacks, which deploy/cloudformation.ts puts in place of their URLs, are uploaded next to the
 * deployment directories, named by their hash, so that an unchanged template keeps its URL.
 */
export default class PackagePlugin {
  readonly hooks: Record<string, () => Promise<void>>

  /** @param options of the command; `param` has `name=value` for each `--param` */
  constructor(serverless: Serverless, options: { param?: readonly string[] } = {}) {
    const { serviceDir, service, classes } = serverless
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

    const pack = async () => {
      await mkdir(folder, { recursive: true })
      for (const [name, lambda] of Object.entries(service.functions)) {
        const source = lambda.handler.slice(0, lambda.handler.lastIndexOf('.'))
        const artifact = join(folder, `${name}.zip`)
        const { code } = await bundle(source)
        await writeFile(artifact, zipped(source, code))
        lambda.package = { ...lambda.package, artifact }
      }
    }
    const check = async () => {
      try {
        const params = Object.values(serverless.configurationInput.params ?? {})
        assertParameters(options.param ?? [], [CONFIRMATION, ...params.flatMap(Object.keys)])
        assertDeployable(service.custom.settings, readStores(join(serviceDir, 'stores.yml')))
      } catch (error) {
        throw new classes.Error(error instanceof Error ? error.message : String(error))
      }
    }
    const isShifted = () => isGradual(service.custom.settings.shift)
    const checkFunction = async () => {
      await check()
      if (isShifted())
        throw new classes.Error(
          'Cannot deploy a single function: its alias would keep the version it has; run npx serverless deploy',
        )
    }
    // Only on the command line: a parameter in serverless.yml would confirm every removal.
    const confirmRemoval = async () => {
      const { stage } = service.provider
      if (options.param?.includes(`${CONFIRMATION}=${stage}`)) return
      throw new classes.Error(
        `Cannot remove the stage "${stage}": its messages, dead letters and history would be deleted; list them with ` +
          `npx relay preview-remove --stage ${stage}, then add --param="remove=${stage}"`,
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
      'after:aws:package:finalize:mergeCustomProviderResources': async () => {
        const { stage, compiledCloudFormationTemplate } = service.provider
        const { permissionsBoundary } = service.custom.settings
        confineRoles(compiledCloudFormationTemplate.Resources, stage, permissionsBoundary)
        if (isShifted()) watchVersions(service.provider.compiledCloudFormationTemplate, service.functions)
        await extractTemplates()
      },
      'before:aws:deploy:deploy:validateTemplate': uploadTemplates,
      'before:deploy:function:initialize': checkFunction,
      'before:deploy:function:packageFunction': pack,
      'before:remove:remove': confirmRemoval,
    }
  }
}
