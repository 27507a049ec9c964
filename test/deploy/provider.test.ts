import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import * as v from 'valibot'
import { parse } from 'yaml'
import { DEFAULT_REGION, DEFAULT_STAGE } from '../../deploy/cloudformation.ts'
import PackagePlugin from '../../deploy/package.ts'
import { QUEUE_IDS } from '../../deploy/queues.ts'
import { ordersId, tablesOf } from '../../deploy/tables.ts'
import { useFolder } from '../support/folder.ts'
import { startServer } from '../support/server.ts'
import { SETTINGS } from './template/packaged.ts'
import { covers } from './template/permissions/policies.ts'

// Parts of a deployment that are not in the template.

const oneOrMore = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform(each => [each].flat()),
)
const settings = v.object({
  provider: v.object({
    region: v.string(),
    environment: v.looseObject({ ORDERS_TABLE: v.string() }),
    tags: v.record(v.string(), v.string()),
    stackTags: v.optional(v.record(v.string(), v.string()), {}),
    deletionProtection: v.object({ stages: v.array(v.string()) }),
    stackPolicy: v.array(v.object({ Effect: v.string(), Action: oneOrMore, Resource: oneOrMore })),
  }),
})
const { provider } = v.parse(settings, parse(readFileSync('serverless.yml', 'utf8'), { logLevel: 'error' }))

const policy = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    Statement: v.array(
      v.object({
        Action: v.array(v.string()),
        Condition: v.optional(v.record(v.string(), v.record(v.string(), v.unknown())), {}),
      }),
    ),
  }),
)

test('a stack has the tags that the deployer must give to a new key, which the template does not set', () => {
  const { Statement } = v.parse(policy, readFileSync('docs/iam/deployer.json', 'utf8'))
  const required = Statement.find(({ Action }) => Action.includes('kms:CreateKey'))?.Condition.StringEquals
  const given = Object.entries(provider.stackTags).map(([name, value]) => [`aws:RequestTag/${name}`, value])
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of osls
  expect(given.map(([name, value]) => [name, value?.replace('${sls:stage}', 'STAGE')])).toEqual(
    Object.entries(required ?? {}),
  )
  expect(provider.tags).toEqual(provider.stackTags)
})

test('the default stage is protected from removal, and commands use the region of deployments', () => {
  expect(provider.deletionProtection.stages).toContain(DEFAULT_STAGE)
  expect(/'([\w-]+)'\}$/.exec(provider.region)?.[1]).toBe(DEFAULT_REGION)
})

test('after a restore, the functions use the orders table that the setting names', () => {
  const after: Record<string, string> = { prefix: 'trial-', ordersTable: 'orders-2' }
  const used = provider.environment.ORDERS_TABLE.replaceAll(
    /\$\{param:(\w+)\}/g,
    (_, name) => after[name] ?? '',
  )
  const tables = tablesOf({ prefix: 'trial-', ordersTable: 'orders-2' })
  expect(tables.map(({ name }) => name)).toContain(used)
})

test('the stack policy protects the relay’s queues and tables, and lets a restore release the orders table', () => {
  const isAllowed = (action: string, id: string) => {
    const effects = provider.stackPolicy
      .filter(
        ({ Action, Resource }) =>
          Action.some(each => covers(each, `Update:${action}`)) &&
          Resource.some(each => covers(each, `LogicalResourceId/${id}`)),
      )
      .map(({ Effect }) => Effect)
    return effects.includes('Allow') && !effects.includes('Deny')
  }
  const allowed = (id: string) => ['Modify', 'Delete', 'Replace'].filter(action => isAllowed(action, id))
  const orders = [{}, { ordersTable: 'orders-2' }].map(ordersId)
  const tables = tablesOf({ prefix: '' }).map(({ id }) => id)
  for (const id of [...Object.values(QUEUE_IDS), ...tables].filter(each => !orders.includes(each)))
    expect([id, ...allowed(id)]).toEqual([id, 'Modify'])
  for (const id of orders) expect([id, ...allowed(id)]).toEqual([id, 'Modify', 'Delete'])
  expect(allowed('Feed00')).toHaveLength(3)
})

const folder = useFolder()
const nested = v.object({ 'Fn::Sub': v.string() })

test('a nested template is uploaded to its URL, which is another one when the template changes', async () => {
  await mkdir(folder('.serverless'))
  const uploads: string[] = []
  const s3 = await startServer(async ({ method, url }) => {
    uploads.push(`${method} ${url?.replace(/\?.*/, '')}`)
    return { status: 200, headers: { etag: '"1"' }, body: '' }
  })
  const deploy = async (template: object) => {
    const Nested = { Type: 'AWS::CloudFormation::Stack', Properties: { TemplateURL: template } }
    const serverless = {
      serviceDir: folder(),
      getProvider: () => ({
        getServerlessDeploymentBucketName: async () => 'bucket',
        getDeploymentPrefix: () => 'serverless',
        isS3TransferAccelerationEnabled: () => false,
        getAwsSdkV3Config: async () => ({
          region: 'eu-west-1',
          endpoint: s3.url,
          forcePathStyle: true,
          credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
        }),
      }),
      classes: { Error },
      service: {
        service: 'order-relay',
        functions: {},
        provider: { stage: 'trial', compiledCloudFormationTemplate: { Resources: { Nested } } },
        custom: { settings: { shift: 'none', permissionsBoundary: '' } },
      },
    }
    const { hooks } = new PackagePlugin(serverless as never)
    await hooks['after:aws:package:finalize:mergeCustomProviderResources']?.()
    await hooks['before:aws:deploy:deploy:validateTemplate']?.()
    return v.parse(nested, Nested.Properties.TemplateURL)['Fn::Sub']
  }
  try {
    const urls = [await deploy({ Resources: {} }), await deploy({ Resources: { A: {} } })]
    const at = `https://s3.\${AWS::Region}.\${AWS::URLSuffix}/\${ServerlessDeploymentBucket}`
    expect(urls.map(url => url.replace(at, 'PUT /bucket'))).toEqual(uploads)
    expect(await deploy({ Resources: {} })).toBe(urls[0])
    expect(urls[1]).not.toBe(urls[0])
  } finally {
    await s3.close()
  }
})

test('a role has a permissions boundary only with the setting, since an empty one is refused', async () => {
  const roleWith = async (permissionsBoundary: string) => {
    const Role = { Type: 'AWS::IAM::Role', Properties: {} }
    const service = {
      provider: { stage: 'trial', compiledCloudFormationTemplate: { Resources: { Role } } },
      custom: { settings: { shift: 'none', permissionsBoundary } },
    }
    const { hooks } = new PackagePlugin({ serviceDir: '', service, classes: { Error } } as never)
    await hooks['after:aws:package:finalize:mergeCustomProviderResources']?.()
    return Role.Properties
  }
  const Path = '/order-relay/trial/'
  expect(await roleWith('')).toEqual({ Path })
  expect(await roleWith('arn')).toEqual({ Path, PermissionsBoundary: 'arn' })
})

test('docs/deploy.md states the defaults of the settings and the number of retained deployments', () => {
  const { params, provider } = parse(readFileSync('serverless.yml', 'utf8'), { logLevel: 'error' })
  const text = readFileSync('docs/deploy.md', 'utf8')
  const rows = [...text.matchAll(/^\| `(\w+)` \| [^|]*\| `?([\w/]+)`? \|/gm)]
  expect(rows.map(([, name]) => name)).toEqual(expect.arrayContaining(Object.keys(SETTINGS)))
  const named = [...text.matchAll(/^\| (`[^|]*`) \|/gm)].map(([, names]) => names).join()
  const { prefix: _, ...settings } = params.default
  expect(Object.keys(settings).filter(name => !named.includes(`\`${name}\``))).toEqual([])
  for (const [, name = '', value] of rows) {
    const [, inEnvironment] = /^\$\{env:\w+, '(.*)'\}$/.exec(params.default[name]) ?? []
    expect([name, (inEnvironment ?? String(params.default[name])) || 'none']).toEqual([name, value])
  }
  const [, ...shifts] = /`(\w+)` in the stage `production`, else `(\w+)`/.exec(text) ?? []
  expect([params.production.shift, params.default.shift]).toEqual(shifts)
  // A store under development runs on the machine of the local stack.
  expect([params.local.feedAddresses, params.default.feedAddresses]).toEqual(['loopback', 'public'])
  const [, kept] = /\| the last (\d+) deployments \|/.exec(text) ?? []
  expect(provider.deploymentBucket.maxPreviousDeploymentArtifacts).toBe(Number(kept))
})
