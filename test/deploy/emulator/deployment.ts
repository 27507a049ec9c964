// npm run test:deploy: the lifecycle of a deployment in an AWS emulator, following docs/deploy.md.

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CloudFormation } from '@aws-sdk/client-cloudformation'
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { SQS } from '@aws-sdk/client-sqs'
import { SSM } from '@aws-sdk/client-ssm'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { urlOf } from '@order-relay/local/settings.ts'
import { startSandbox } from 'order-relay-sandbox'
import { feedQueueName, siblingQueueUrl } from '../../../lib/platform/names.ts'
import { FEED_SECRET } from '../../../proofs/chaos/backends.ts'
import { createRequest, serviceClient } from '../../../proofs/chaos/service.ts'
import { newInbox, startWebStore } from '../../../proofs/chaos/stores.ts'
import { fetchJson } from '../../support/fetch-json.ts'
import { readFeedMessage } from '../../support/oracle.ts'
import { runProgram } from '../../support/program.ts'
import { change, copyProject } from '../../support/project.ts'
import { until } from '../../support/until.ts'
import { pythonTools } from '../python.ts'
import { must, serverless } from '../serverless.ts'
import { startEmulator } from './emulator.ts'

/** The name of the tested stage begins with the name of another stage, `proof`. */
const OTHER_STAGE = 'proof'
const STAGE = `${OTHER_STAGE}-eu`
const STACK = `order-relay-${STAGE}`
const AT = ['--stage', STAGE]
const SOURCE = 'demo-shop'
const SECOND_SOURCE = 'فروشگاه دوم'

const program = await pythonTools('emulator', 'test/deploy/emulator/requirements.txt')

/** Maximum delay of the emulator, in milliseconds. */
const PASSING_MS = 60_000

/** The accounting service and its accountant: the sandbox, which can stop and restart with the same address and data. */
const startAccounting = async (data: string) => {
  let running = await startSandbox({ port: 0, data })
  const { url } = running
  const service = serviceClient(url)
  return {
    url,
    service,
    /** Creates a paid order that needs review; the service sends no webhook about its own response. */
    async bookForReview(external_id: string) {
      await service.stock(external_id, 0)
      expect(await service.create(SOURCE, external_id, true)).toMatchObject({ status: 201 })
    },
    /** Finalizes it; the deployed URL accepts the service's webhook. */
    async finalize(external_id: string) {
      expect(await service.fix(SOURCE, external_id)).toBe(true)
      await until(
        async () => (await service.webhooks(external_id)).some(({ state }) => state === 'delivered'),
        PASSING_MS,
      )
    },
    stop: () => running.close(),
    async restart() {
      running = await startSandbox({ port: Number(new URL(url).port), data })
    },
  }
}

const prepare = async (python: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'order-relay-deploy-'))
  // Siblings: functions in the emulator must not find the project's package.json in a parent directory.
  const [project, cloud] = [join(folder, 'project'), join(folder, 'emulator')]
  await mkdir(cloud)
  await copyProject(project)
  // The emulator, the service and the stores run on this machine, as in the stage `local`.
  await change(project, 'deploy/settings.ts', "stage === 'local'", `stage === '${STAGE}'`)
  // The emulator has no saved queries; cfn-lint checks them.
  await change(project, 'deploy/template.ts', '      ...queryResources(stack),\n', '')
  const accounting = await startAccounting(join(folder, 'sandbox.db'))
  const inbox = newInbox()
  const store = await startWebStore(inbox)
  const emulator = await startEmulator(python, cloud)
  await change(
    project,
    'deploy/queues.ts',
    `https://sqs.\\\${AWS::Region}.\\\${AWS::URLSuffix}`,
    emulator.url,
  )
  const all: NodeJS.ProcessEnv = { ...emulator.environment, ACCOUNTING_URL: accounting.url }
  const client = {
    endpoint: emulator.url,
    region: all.AWS_REGION ?? '',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  }
  const aws = {
    cloudformation: new CloudFormation(client),
    dynamodb: new DynamoDB(client),
    sqs: new SQS(client),
    ssm: new SSM(client),
  }
  const PERMISSIONS_BOUNDARY = await emulator.createBoundary(STAGE)
  const userWith = async (policy: 'deployer' | 'operator', stage = STAGE) => ({
    ...(await emulator.userWith(policy, stage)),
    ACCOUNTING_URL: accounting.url,
    PERMISSIONS_BOUNDARY,
  })
  const [deployer, operator] = await Promise.all([userWith('deployer'), userWith('operator')])
  const stranger = await userWith('deployer', OTHER_STAGE)
  const run = (script: string, args: readonly string[], env: NodeJS.ProcessEnv, input?: string) =>
    runProgram([script, ...args, ...AT], { cwd: project, env, input })
  return {
    ...aws,
    accounting,
    inbox,
    storeUrl: urlOf(store.port),
    emulator,
    project,
    deployer,
    stranger,
    all,
    deploy: () =>
      must(
        'deploy',
        // With aliases, as in production, but without a gradual shift, which the emulator lacks.
        serverless(
          ...([project, deployer, 'deploy', '--param=feedAddresses=loopback'] as const),
          '--param=shift=AllAtOnce',
          ...AT,
        ),
      ),
    adopt: () => must('adopt-orders', run('deploy/adopt-orders.ts', [], deployer)),
    /** Runs the command as an operator; returns its output. */
    relay: (args: readonly string[], input?: string) =>
      must(`relay ${args.join(' ')}`, run('packages/operator/main.ts', args, operator, input)),
    /** Sends a webhook signed with the stored secret, or with another; returns the status. */
    send: async (source: string, external_id: string, options: readonly string[], secret?: string) => {
      const env = { ...operator, ...(secret && { RELAY_WEBHOOK_SECRET: secret }) }
      const order = ['--source', source, '--external-id', external_id, '--yes', external_id]
      const args = ['send', ...order, ...options]
      return Number.parseInt((await run('packages/operator/main.ts', args, env)).out, 10)
    },
    async close() {
      await emulator.stop()
      for (const each of Object.values(aws)) each.destroy()
      await accounting.stop()
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

let it: Awaited<ReturnType<typeof prepare>>
let outputs: Record<string, string>

const resources = async () => {
  const { StackResourceSummaries = [] } = await it.cloudformation.listStackResources({ StackName: STACK })
  return StackResourceSummaries.map(({ LogicalResourceId }) => LogicalResourceId)
}
const outputsNow = async () => {
  const { Stacks: [stack] = [] } = await it.cloudformation.describeStacks({ StackName: STACK })
  return Object.fromEntries(
    (stack?.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
  )
}
/** The URL at which the emulator serves a path of the API. */
const reachable = (path: string) => `${it.emulator.url}/_aws/execute-api/${outputs.HttpApiId}/$default${path}`
/** The next message of the store's SQS feed. */
const fromFeed = () =>
  until(async () => {
    const QueueUrl = siblingQueueUrl(outputs.OrdersQueueUrl ?? '', feedQueueName(SOURCE))
    const { Messages: [message] = [] } = await it.sqs.receiveMessage({ QueueUrl })
    if (message === undefined) return undefined
    await it.sqs.deleteMessage({ QueueUrl, ReceiptHandle: message.ReceiptHandle })
    return readFeedMessage(message.Body ?? '')
  }, PASSING_MS)
const attribute = async (
  QueueUrl: string | undefined,
  name: 'ApproximateNumberOfMessages' | 'RedrivePolicy' | 'Policy',
) => {
  const { Attributes } = await it.sqs.getQueueAttributes({ QueueUrl, AttributeNames: [name] })
  return JSON.parse(Attributes?.[name] ?? 'null')
}
const setMaxReceives = async (maxReceiveCount: number): Promise<number> => {
  const QueueUrl = outputs.OrdersQueueUrl
  const policy = await attribute(QueueUrl, 'RedrivePolicy')
  const RedrivePolicy = JSON.stringify({ ...policy, maxReceiveCount })
  await it.sqs.setQueueAttributes({ QueueUrl, Attributes: { RedrivePolicy } })
  return policy.maxReceiveCount
}
const ORDERS = `${STACK}-orders`
const savedStatus = async (external_id: string, TableName = ORDERS) => {
  const Key = { source: { S: SOURCE }, external_id: { S: external_id } }
  const { Item } = await it.dynamodb.getItem({ TableName, Key, ConsistentRead: true })
  return Item?.status?.S
}

const described = program === undefined ? describe.skip : describe
described('a deployment', () => {
  beforeAll(async () => {
    it = await prepare(program?.('python') ?? '')
  })
  afterAll(() => it?.close())

  test('deploys with the deployer policy', async () => {
    await it.deploy()
    outputs = await outputsNow()
    const wanted = ['WebhookUrl', 'ApiUrl', 'OrdersQueueUrl', 'OrdersDeadQueueUrl', 'DashboardUrl']
    expect(wanted.filter(name => !outputs[name])).toEqual([])
    // The shared role that osls adds when a function has none.
    expect(await resources()).not.toContain('IamRoleLambdaExecution')
  })

  test('denies every change to the deployer of another stage', async () => {
    const { code, output } = await serverless(it.project, it.stranger, 'deploy', ...AT)
    expect([code, output]).toEqual([1, expect.stringMatching(/not authorized/)])
  })

  test('creates the aliases through which the functions are invoked', async () => {
    const { StackResourceSummaries = [] } = await it.cloudformation.listStackResources({ StackName: STACK })
    const ids = StackResourceSummaries.map(({ ResourceType }) => ResourceType)
    expect(ids.filter(type => type === 'AWS::Lambda::Alias')).toHaveLength(4)
  })

  test('stores an encrypted key and webhook secret with the operator policy', async () => {
    await it.relay(['key', 'set'], 'sandbox-key')
    await it.relay(['register', '--url', reachable('/webhook')])
    const { Parameters = [] } = await it.ssm.getParametersByPath({
      Path: `/order-relay/${STAGE}`,
      Recursive: true,
      WithDecryption: true,
    })
    expect([...new Set(Parameters.map(({ Type }) => Type))]).toEqual(['SecureString'])
    expect(Parameters.filter(({ Name }) => Name?.includes('/webhook/secrets/'))).toHaveLength(1)
  })

  test('relays a webhook, and refuses a forged one', async () => {
    await it.accounting.bookForReview('1001')
    await it.accounting.finalize('1001')
    expect(await it.send(SOURCE, '1001', ['--status', 'refunded'], 'guessed')).toBe(401)
    expect(await fromFeed()).toMatchObject({
      event: 'order.updated',
      version: 1,
      data: { external_id: '1001', status: 'paid' },
    })
    await until(async () => (await savedStatus('1001')) === 'paid', PASSING_MS)
  })

  test("accepts a store's request", async () => {
    const { key } = JSON.parse(await it.relay(['stores', 'key', SOURCE, '--json']))
    await it.accounting.service.stock('1003', 10)
    const body = createRequest(SOURCE, '1003')
    const { status } = await fetchJson(reachable('/api/v1/orders/'), { method: 'POST', key, body })
    expect([201, 202]).toContain(status)
    const { data } = await fromFeed()
    expect(data).toMatchObject({ external_id: '1003', status: 'invoiced' })
  })

  test('runs the scheduled check without an error', async () => {
    await must('invoke', serverless(it.project, it.all, 'invoke', '--function', 'reconcile', ...AT))
    const lines = await it.relay(['tail', '--since', '10m', '--no-follow', '--errors'])
    expect(lines).not.toContain('reconcile')
  })

  test('dead-letters an event that cannot be processed, and replays it', async () => {
    await it.accounting.bookForReview('1002')
    expect(await it.send(SOURCE, '1002', ['--status', 'needs_review', '--error', 'stock'])).toBe(200)
    expect((await fromFeed()).version).toBe(1)

    const before = await setMaxReceives(1)
    await it.accounting.stop()
    // Same status, different content: the worker must read the order from the service, which is down.
    expect(await it.send(SOURCE, '1002', ['--status', 'needs_review', '--error', 'account'])).toBe(200)
    const dead = () => attribute(outputs.OrdersDeadQueueUrl, 'ApproximateNumberOfMessages')
    await until(async () => (await dead()) > 0, PASSING_MS)
    await setMaxReceives(before)

    await it.accounting.restart()
    await it.accounting.finalize('1002')
    await it.relay(['dead', 'replay', '--all'])
    const { data } = await fromFeed()
    expect(data).toMatchObject({ external_id: '1002', status: 'paid' })
    expect(await dead()).toBe(0)
  })

  test('accounts for everything', async () => {
    const { deliveries, ...rest } = JSON.parse(await it.relay(['audit', '--json']))
    expect(deliveries.outcomes).toEqual({ queued: 4, 'refused: not signed with a known secret': 1 })
    expect(rest).toMatchObject({
      balanced: true,
      requests: { accepted: 1, states: { registered: 1 } },
      orders: { known: 3, asked: 3, agree: 3 },
      differences: [],
    })
  })

  test('deploys again with a new store and an HTTP feed', async () => {
    const added = `stores:\n  - source: ${SECOND_SOURCE}\n    feed:\n      http: ${it.storeUrl}/webhook\n`
    await change(it.project, 'stores.yml', 'stores:\n', added)
    await it.deploy()
    // The store verifies with the first secret, which still signs as well.
    for (const secret of [FEED_SECRET, 'next-secret-of-the-store'])
      await it.relay(['stores', 'secret', SECOND_SOURCE, '--stdin'], secret)
    expect(await it.send(SECOND_SOURCE, '1', ['--status', 'paid'])).toBe(200)
    const { data } = await until(() => it.inbox.of('1')[0], PASSING_MS)
    expect(data.source).toBe(SECOND_SOURCE)
    expect(await savedStatus('1001')).toBe('paid')
  })

  test('adds and removes consumers in another account and dead-letter queues of stores', async () => {
    const QueueUrl = siblingQueueUrl(outputs.OrdersQueueUrl ?? '', feedQueueName(SOURCE))
    const entry = (source: string) => `  - source: ${source}\n    feed: sqs\n`
    const options = '    consumers: ["111122223333"]\n    dead_letter_after: 5\n'
    const statements = async () => {
      const { Statement } = await attribute(QueueUrl, 'Policy')
      return Statement.map(({ Effect, Principal }: Record<string, unknown>) => [Effect, Principal])
    }
    const tlsOnly = [['Deny', '*']]
    expect(await statements()).toEqual(tlsOnly)
    for (const source of ['api', SOURCE])
      await change(it.project, 'stores.yml', entry(source), entry(source) + options)
    await it.deploy()
    expect(await statements()).toEqual([...tlsOnly, ['Allow', { AWS: ['111122223333'] }]])
    const { feed } = JSON.parse(await it.relay(['stores', 'show', SOURCE, '--json']))
    expect(feed).toMatchObject({ dead_letter_after: 5, dead_letters: 0 })
    expect(await attribute(QueueUrl, 'RedrivePolicy')).toMatchObject({ maxReceiveCount: 5 })
    // The other store keeps its consumers, since the emulator deletes retained resources with a nested stack.
    await change(it.project, 'stores.yml', entry(SOURCE) + options, entry(SOURCE))
    await it.deploy()
    expect(await statements()).toEqual(tlsOnly)
  })

  test('keeps the tables of orders and registrations when it is removed', async () => {
    await must('remove', serverless(it.project, it.deployer, 'remove', `--param=remove=${STAGE}`, ...AT))
    await expect(outputsNow()).rejects.toThrow('does not exist')
    expect((await it.sqs.listQueues({ QueueNamePrefix: STACK })).QueueUrls ?? []).toEqual([])
    expect((await it.dynamodb.listTables({})).TableNames).toEqual([ORDERS, `${STACK}-registrations`])
    expect(await savedStatus('1001')).toBe('paid')
    expect((await fetch(reachable('/webhook'), { method: 'POST' })).status).not.toBe(401)
  })

  test('refuses to deploy over the retained orders', async () => {
    await expect(it.deploy()).rejects.toThrow(/'\S+-(orders|registrations)' already exists/)
  })

  test('adopts the retained orders', async () => {
    await it.adopt()
    await it.deploy()
    outputs = await outputsNow()
    expect(await savedStatus('1001')).toBe('paid')
    expect(await resources()).toEqual(expect.arrayContaining(['OrdersTable', 'RegistrationsTable']))
  })

  test('continues with a restored table, as docs/restore.md describes', async () => {
    const restored = `${ORDERS}-2`
    const tables = { SourceTableName: ORDERS, TargetTableName: restored }
    await it.dynamodb.restoreTableToPointInTime({ ...tables, UseLatestRestorableTime: true })
    await change(it.project, 'serverless.yml', 'ordersTable: orders', 'ordersTable: orders-2')
    const minutes = Math.floor(Date.now() / 60_000)
    await change(it.project, 'serverless.yml', 'feedVersionsFrom: 0', `feedVersionsFrom: ${minutes}`)
    await it.adopt()
    await it.deploy()
    const { Table } = await it.dynamodb.describeTable({ TableName: restored })
    expect(Table?.DeletionProtectionEnabled).toBe(true)
    expect(await resources()).not.toContain('OrdersTable')

    await it.relay(['register', '--url', reachable('/webhook')])
    expect(await it.send(SOURCE, '1001', ['--status', 'refunded'])).toBe(200)
    expect((await fromFeed()).version).toBe(minutes + 1)
    await until(async () => (await savedStatus('1001', restored)) === 'refunded', PASSING_MS)
    // The replaced table remains outside the stack.
    expect(await savedStatus('1001')).toBe('paid')
  })
})
