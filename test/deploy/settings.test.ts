import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { afterAll, describe, expect, test } from '@jest/globals'
import PackagePlugin from '../../deploy/package.ts'
import { feederEvents, feedQueueId, queueResources } from '../../deploy/queues.ts'
import { assertDeployable, type DeploymentSettings } from '../../deploy/settings.ts'
import { resources } from '../../deploy/template.ts'
import type { Store } from '../../lib/platform/stores.ts'
import { useFolder } from '../support/folder.ts'
import { exceeded } from './lint/quotas.ts'
import { serverless } from './serverless.ts'
import { filledPolicy } from './template/permissions/policies.ts'

const GOOD = 'https://accounting.example/base'
const LOOPBACK: Store = {
  source: 'shop',
  feed: { http: 'http://localhost:8080/hook', disable_after: 60 },
}

const settings = {
  stage: 'production',
  region: 'eu-central-1',
  backupRegion: '',
  accountingUrl: GOOD,
  feedAddresses: 'public',
  feedAttempts: 'all',
  accountingTimeZone: 'Asia/Tehran',
  waitSeconds: 3,
  checksPerSecond: 10,
  storeRequestsPerSecond: 50,
  callerAddresses: 'hidden',
  monthlyBudget: 0,
  alarmEmail: '',
  shift: 'none',
  deleteOrdersAfterDays: 0,
  ordersTable: 'orders',
  domain: '',
  certificateArn: '',
  permissionsBoundary: '',
}

describe('the URL of the accounting service', () => {
  const check = (accountingUrl: string, stage = 'production') =>
    assertDeployable({ ...settings, stage, accountingUrl }, [])

  test.each([
    ['', 'is not set;'],
    ['http://accounting.example', 'is "http://accounting.example", which does not begin with https://;'],
    ['accounting.example', 'is "accounting.example", which is not a URL;'],
    ['accounting.example:8443', 'is "accounting.example:8443", which does not begin with https://;'],
    ['https://', 'is "https://", which is not a URL;'],
    ['https://me:pass@a.example', 'is "https://***@a.example", which contains a user or password;'],
    ['https://me:pa/ss@a.example', 'is "https://***@a.example", which is not a URL;'],
    ['https://a.example/?key=1', 'is "https://a.example/?key=1", which has a query or fragment;'],
    ['https://169.254.169.254/', 'is "https://169.254.169.254/", which AWS cannot reach;'],
    ['https://localhost:4000', 'is "https://localhost:4000", which AWS cannot reach;'],
  ])('%j is refused', (url, problem) => {
    const start = `Cannot package: the base URL of the accounting service ${problem} set it, such as ACCOUNTING_URL=https://`
    expect(() => check(url)).toThrow(start)
  })

  test.each([GOOD, 'HTTPS://accounting.example:8443'])('%j is accepted', url => {
    expect(() => check(url)).not.toThrow()
  })

  test('may be http in the stage "local"', () => {
    expect(() => check('http://127.0.0.1:4000', 'local')).not.toThrow()
  })
})

const OF_CODEDEPLOY = [
  ...['AllAtOnce', 'Canary10Percent5Minutes', 'Canary10Percent10Minutes', 'Canary10Percent15Minutes'],
  ...['Canary10Percent30Minutes', 'Linear10PercentEvery1Minute', 'Linear10PercentEvery2Minutes'],
  ...['Linear10PercentEvery3Minutes', 'Linear10PercentEvery10Minutes'],
].join(', ')

test.each<[Partial<DeploymentSettings> & { stores?: Store[] }, string]>([
  [{ stores: [LOOPBACK] }, 'the HTTP feed of the store "shop" is http://localhost:8080/hook'],
  [{ feedAttempts: 'none' }, 'feedAttempts is "none"; set "all" or "failures"'],
  [{ feedAddresses: 'loopback' }, 'feedAddresses is "loopback"; set "public", or "private"'],
  [{ accountingTimeZone: 'Tehran' }, 'accountingTimeZone is "Tehran"; set a name'],
  [{ waitSeconds: -1 }, 'waitSeconds is "-1"; set a number from 0 to 10'],
  [{ waitSeconds: 11 }, 'waitSeconds is "11"; set a number from 0 to 10'],
  [{ checksPerSecond: 0 }, 'checksPerSecond is "0"; set a number above 0'],
  [{ shift: 'Canary20Percent' }, `shift is "Canary20Percent"; set one of none, ${OF_CODEDEPLOY}`],
  [{ monthlyBudget: 40 }, 'monthlyBudget is "40"; set 0, or a number of US dollars together with'],
  [{ deleteOrdersAfterDays: 30 }, 'deleteOrdersAfterDays is "30"; set 0, or a number above 30'],
  [{ callerAddresses: 'yes' }, 'callerAddresses is "yes"; set "hidden" or "logged"'],
  [{ ordersTable: 'other-orders' }, 'ordersTable is "other-orders"; set "orders", or'],
  [{ backupRegion: 'Ireland' }, 'backupRegion is "Ireland"; set a region other than that of the stack'],
  [
    { backupRegion: 'eu-central-1' },
    'backupRegion is "eu-central-1"; set a region other than that of the stack',
  ],
  [{ permissionsBoundary: 'boundary' }, 'permissionsBoundary is "boundary"; set the ARN of a managed policy'],
  [{ domain: 'relay.example' }, 'domain is "relay.example" without a certificate; set certificateArn'],
])('%j is refused, except in the stage "local": %s', ({ stores = [], ...wrong }, problem) => {
  expect(() => assertDeployable({ ...settings, ...wrong }, stores)).toThrow(problem)
  expect(() => assertDeployable({ ...settings, ...wrong, stage: 'local' }, stores)).not.toThrow()
})

test.each([
  ['trial-feed-2', 'contains "-feed-", so the policies of the stage "trial" would cover its resources'],
  ['trial-feed', 'contains "-feed-"'],
  ['trial-orders', 'contains "-orders-"'],
  ['trial-workers', 'contains "-worker", so the policies of the stage "trial"'],
  ['Trial', 'contains characters other than lower-case letters'],
])('refuses the stage name %s: it %s', (stage, problem) => {
  expect(() => assertDeployable({ ...settings, stage }, [])).toThrow(
    `Cannot package: the stage "${stage}" ${problem}`,
  )
})

test('refuses every stage name that a wildcard of docs/iam for another stage covers', () => {
  const policies = readdirSync('docs/iam').map(file => readFileSync(`docs/iam/${file}`, 'utf8'))
  const continued = policies.join('').matchAll(/order-relay-STAGE-([a-z][\w-]*)\*/g)
  const stages = [...new Set(Array.from(continued, ([, name = '']) => `trial-${name}2`))]
  expect(stages).toContain('trial-serverlessdeploymentbucket-2')
  for (const stage of stages)
    expect(() => assertDeployable({ ...settings, stage }, [])).toThrow('of the stage "trial" would cover')
})

test.each([
  ['nope=1', '"nope"; check the name'],
  ['feedAdresses=private', '"feedAdresses"; did you mean "feedAddresses"?'],
])('a deployment refuses the unknown parameter %s', async (param, found) => {
  const env = { ...process.env, ACCOUNTING_URL: GOOD }
  const { code, output } = await serverless(
    process.cwd(),
    env,
    'package',
    '--param=remove=x',
    `--param=${param}`,
  )
  expect(output).toContain(`serverless.yml has no parameter ${found}`)
  expect(code).toBe(1)
})

test('stops a deployment before packaging and prints only the message', async () => {
  const env = { ...process.env, ACCOUNTING_URL: 'http://accounting.example' }
  const { code, output } = await serverless(process.cwd(), env, 'package')
  expect(output).toContain(
    'Cannot package: the base URL of the accounting service is "http://accounting.example"',
  )
  expect(output).not.toMatch(/ at .*settings\.ts|Service packaged/)
  expect(code).toBe(1)
})

test('deploys a single function when traffic shifting is off, and uploads no unused file', async () => {
  const [functions, compiledCloudFormationTemplate] = [{ worker: {} }, { Resources: {} }]
  const hooksWith = (changes: Partial<DeploymentSettings> = {}): Record<string, () => Promise<void>> => {
    const provider = { shouldNotDeploy: true, compiledCloudFormationTemplate }
    const service = { custom: { settings: { ...settings, ...changes } }, provider, functions }
    const serverless = { serviceDir: process.cwd(), configurationInput: {}, classes: { Error }, service }
    return new PackagePlugin(serverless as never).hooks
  }
  const initialize = (changes?: Partial<DeploymentSettings>) =>
    hooksWith(changes)['before:deploy:function:initialize']?.()
  await initialize()
  await expect(initialize({ accountingUrl: '' })).rejects.toThrow('is not set')
  await expect(initialize({ shift: 'AllAtOnce' })).rejects.toThrow('Cannot deploy a single function')
  const hooks = hooksWith()
  const { 'before:deploy:function:packageFunction': pack } = hooks
  expect(pack).toBe(hooks['before:package:createDeploymentArtifacts'])
  await expect(hooks['before:aws:deploy:deploy:validateTemplate']?.()).resolves.toBeUndefined()
  await hooks['before:package:compileFunctions']?.()
  await hooks['before:aws:package:finalize:mergeCustomProviderResources']?.()
  expect([functions.worker, compiledCloudFormationTemplate.Resources]).toEqual([{}, {}])
})

describe('a removal', () => {
  const folder = useFolder()
  test('needs a parameter that names the stage', async () => {
    // Without credentials, in case the removal is not refused.
    const env = { PATH: process.env.PATH, HOME: folder(), AWS_EC2_METADATA_DISABLED: 'true' }
    const ran = await serverless(process.cwd(), env, 'remove')
    expect(ran.output).toContain(
      'Cannot remove the stage "production": its messages, dead letters and history would be deleted; list them with ' +
        'npx relay preview-remove --stage production, then add --param="remove=production"',
    )
    expect(ran.code).toBe(1)
    const remove = async (...param: string[]) => {
      const service = { provider: { stage: 'production' } }
      const plugin = new PackagePlugin({ serviceDir: '', classes: { Error }, service } as never, { param })
      await plugin.hooks['before:remove:remove']?.()
    }
    await expect(remove('remove=staging')).rejects.toThrow('Cannot remove')
    await expect(remove('shift=none', 'remove=production')).resolves.toBeUndefined()
  })
})

/** The parts of a template, with only the requested optional ones. */
const partsOf = (stage: string, asked: Record<string, string | number> = {}) => {
  const left = {
    alarmEmail: '',
    monthlyBudget: 0,
    ordersTable: 'orders',
    backupRegion: '',
    shift: 'none',
    domain: '',
    hostedZoneId: '',
  }
  const settings: Record<string, string | number> = { ...left, prefix: `order-relay-${stage}-`, ...asked }
  const resolve = (name: string) => (name === 'sls:stage' ? stage : settings[name.replace('param:', '')])
  return resources({ resolveVariable: async name => resolve(name) ?? 0 })
}

describe('a resource that a stack does not need', () => {
  const folder = useFolder()
  const project = process.cwd()
  afterAll(() => process.chdir(project))

  test('is not in the template', async () => {
    const domain = { domain: 'relay.example', certificateArn: 'certificate' }
    const parts = await partsOf('trial')
    const all = {
      ...domain,
      hostedZoneId: 'zone',
      alarmEmail: 'operator@example.com',
      backupRegion: 'eu-west-1',
      shift: 'AllAtOnce',
    }
    const others = await partsOf('trial', { ...all, endpointConcurrency: 1 })
    const added = (kind: keyof typeof parts) =>
      Object.keys(others[kind])
        .filter(name => !(name in parts[kind]))
        .sort()
    expect(['Resources', 'Outputs', 'extensions'].map(kind => added(kind as keyof typeof parts))).toEqual([
      [
        'AlarmEmail',
        'BackupPlan',
        'BackupRole',
        'BackupSelection',
        'Domain',
        'DomainMapping',
        'DomainRecord',
        'Shift',
      ],
      ['DomainTarget'],
      ['ApiLambdaFunction', 'HttpApi', 'WebhookLambdaFunction'],
    ])
    // CloudFormation cannot replace one table with another.
    const restored = await partsOf('trial', { ordersTable: 'orders-2' })
    expect(restored.Resources).not.toHaveProperty('OrdersTable')
    // A plan cannot have two selections of one name while CloudFormation replaces one with the other.
    const backups = await partsOf('trial', { backupRegion: 'eu-west-1', ordersTable: 'orders-2' })
    const nameIn = ({ Resources }: typeof parts) =>
      Object(Resources.BackupSelection?.Properties.BackupSelection).SelectionName
    expect([nameIn(others), nameIn(backups)]).toEqual(['orders', 'orders-2'])
    // No store of stores.yml has one.
    expect(Object.keys(parts.Resources).filter(id => /^(HttpFeeds|FeedConsumers)$/.test(id))).toEqual([])
    expect(parts.Outputs.WebhookUrl?.Value).toEqual({ 'Fn::Sub': `\${HttpApi.ApiEndpoint}/webhook` })
    // A raised alarm would stop such a deployment, which may contain the fix.
    expect(JSON.stringify(others.Resources.Shift)).not.toContain('"AlarmConfiguration":{"Enabled":true')

    const { Resources, extensions } = await partsOf('trial', { ...domain, defaultEndpoint: 'enabled' })
    expect(Resources).not.toHaveProperty('DomainRecord')
    expect(extensions).toMatchObject({ HttpApi: { Properties: { DisableExecuteApiEndpoint: false } } })
  })

  test('is not referenced: without traffic shifting, queues invoke the function instead of its alias', async () => {
    await writeFile(folder('stores.yml'), 'stores: [{ source: web, feed: { http: "https://web.example/" } }]')
    process.chdir(folder())
    const { Resources } = await partsOf('trial')
    const FeederArn = { 'Fn::GetAtt': ['FeederLambdaFunction', 'Arn'] }
    expect(Resources.HttpFeeds?.Properties.Parameters).toEqual({ FeederArn })
  })
})

describe('feed queues', () => {
  const { feed } = LOOPBACK
  const queuesWith = (...stores: Store[]) => queueResources({ prefix: '', stores })

  test.each([
    [0, 'denyAll'],
    [1, 'byQueue'],
    [10, 'byQueue'],
    [11, 'allowAll'],
  ])('%i of them may use the dead-letter queue: %s', (length, redrivePermission) => {
    const { FeedsDeadQueue } = queuesWith(...Array.from({ length }, (_, web) => ({ source: `${web}`, feed })))
    expect(FeedsDeadQueue?.Properties.RedriveAllowPolicy).toMatchObject({ redrivePermission })
  })

  test('with their own policies share none, and are parsed in the local stack as on AWS', () => {
    const consumers = ['111122223333']
    expect(queuesWith({ source: 'shop', feed: 'sqs', consumers })).not.toHaveProperty('FeedsTlsOnly')
    const arn = { 'Fn::GetAtt': [feedQueueId('shop'), 'Arn'] }
    const sqs = { arn, batchSize: 10, functionResponseType: 'ReportBatchItemFailures' }
    expect(feederEvents({ stores: [LOOPBACK] })).toEqual([{ sqs }])
  })
})

describe('AWS quotas', () => {
  test('the policy of the deployer fits into the inline policies of a role, even with long names', () => {
    const values = { REGION: 'ap-southeast-1', ACCOUNT: '123456789012', STAGE: 'production' }
    const filled = filledPolicy('deployer', {
      ...values,
      DOMAIN: 'relay.example.com',
      ZONE: 'Z0123456789ABCDEFGHIJ',
    })
    expect(JSON.stringify(JSON.parse(filled)).length).toBeLessThanOrEqual(10_240)
  })

  test.each(['deployer-backup', 'boundary', 'woocommerce-deployer', 'woocommerce-boundary'])(
    'the policy %s fits into a managed policy',
    name => {
      const filled = filledPolicy(name, {
        REGION: 'ap-southeast-1',
        ACCOUNT: '123456789012',
        STAGE: 'production',
      })
      expect(JSON.stringify(JSON.parse(filled)).length).toBeLessThanOrEqual(6144)
    },
  )

  const text = (length: number) => 'x'.repeat(length)
  const items = (length: number): unknown[] => Array.from({ length }, () => 0)

  const one = (Properties: object) => ({ Resources: { One: { Properties } } })
  const dashboard = (widgets: object[]) =>
    one({ DashboardBody: { 'Fn::Sub': JSON.stringify({ widgets, arn: `\${One.Arn}` }) } })

  test.each<[string, (size: number) => object, number]>([
    ['characters of the policies of a role', length => one({ Policies: [text(length - 4)] }), 10_240],
    ['bytes of the policy of a queue', length => one({ PolicyDocument: text(length - 2) }), 8192],
    ['queues that a dead-letter queue names', count => one({ sourceQueueArns: items(count) }), 10],
    ['characters of the name of a queue', length => one({ QueueName: text(length) }), 80],
    ['widgets of a dashboard', count => dashboard(items(count) as object[]), 500],
    ['metrics of a widget', count => dashboard([{ metrics: items(count) }]), 500],
    [
      'metrics of a dashboard',
      count =>
        dashboard([...items(5).map(() => ({ metrics: items(490) })), { metrics: items(count - 2450) }]),
      2500,
    ],
    [
      'resources of a template',
      count => ({ Resources: Object.fromEntries(items(count).map((_, index) => [`R${index}`, {}])) }),
      500,
    ],
    ['alarms of a widget', count => dashboard([{ alarms: items(count) }]), 100],
    ['characters beyond ASCII in a template', count => ({ Description: 'ف'.repeat(count) }), 0],
  ])('reports a template that exceeds the allowed %s by one', (name, templateOf, allowed) => {
    expect(exceeded(JSON.stringify(templateOf(allowed)))).toEqual([])
    const [found] = exceeded(JSON.stringify(templateOf(allowed + 1)))
    expect(found).toBe(`${name}: ${allowed + 1}, and AWS allows ${allowed}`)
  })

  test('measures values that CloudFormation resolves by the length of an ARN', () => {
    const role = (count: number) => one({ Policies: Array.from({ length: count }, () => ({ Ref: 'Queue' })) })
    expect(exceeded(JSON.stringify(role(71)))).toEqual([])
    expect(exceeded(JSON.stringify(role(72)))).toHaveLength(1)
  })
})
