import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeAll, expect, test } from '@jest/globals'
import { local } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'
import { credentialsIn } from '../credentials.ts'
import type { PortName, Ports } from '../settings.ts'

/** Data of an earlier version, which was readable by all users. */
export const prepareData = async (dataDir: string) => {
  await mkdir(join(dataDir, 'queues'))
  await writeFile(join(dataDir, 'parameters.json'), '{"parameters":[]}')
  await writeFile(join(dataDir, 'relay.log'), '')
  await writeFile(join(dataDir, 'sandbox.db'), '')
  for (const name of ['.', 'queues']) await chmod(join(dataDir, name), 0o755)
  for (const name of ['parameters.json', 'relay.log', 'sandbox.db']) await chmod(join(dataDir, name), 0o644)
}

const modes = async (path: string): Promise<string[]> => {
  const found = await lstat(path)
  const shown = `${(found.mode & 0o777).toString(8)} ${path}`
  if (!found.isDirectory()) return [shown]
  return [shown, ...(await Promise.all((await readdir(path)).map(name => modes(join(path, name))))).flat()]
}

type Attack = { name: PortName; path: string; headers: Record<string, string>; body: string }

const order = (external_id: string, source: string) =>
  JSON.stringify({ external_id, source, items: [{ sku: 'SKU-1', quantity: 1, unit_price: 10 }] })
const json = { 'content-type': 'application/json' }

/** Requests that each port accepts from local programs, with the header of {@link signedAs} if they have none. */
const ATTACKS: readonly Attack[] = [
  {
    name: 'relay',
    path: '/api/v1/orders/',
    body: order('1', 'api'),
    headers: { ...json, authorization: 'Bearer local-api' },
  },
  {
    name: 'lambda',
    path: '/2015-03-31/functions/order-relay-local-worker/invocations',
    headers: { 'content-type': 'text/plain' },
    body: '{"Records":[]}',
  },
  {
    name: 'sandbox',
    path: '/api/v1/orders/',
    body: order('2', 'other'),
    headers: { ...json, authorization: 'Bearer sandbox-key' },
  },
  {
    name: 'dynamodb',
    path: '/',
    body: '{}',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'DynamoDB_20120810.ListTables',
      'x-amz-date': 'now',
    },
  },
  {
    name: 'sqs',
    path: '/',
    body: '{}',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.ListQueues' },
  },
  {
    name: 'ssm',
    path: '/',
    body: '{"Path":"/","Recursive":true,"WithDecryption":true}',
    headers: { 'x-amz-target': 'AmazonSSM.GetParametersByPath' },
  },
]

const signedAs = (accessKeyId: string) =>
  `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/eu-central-1/any/aws4_request, SignedHeaders=host, Signature=00`

const SHOWS_USERS = existsSync('/proc/net/tcp')
const IS_ROOT = process.getuid?.() === 0

export const machineTests = () => {
  let dataDir: string
  let ports: Ports
  let accessKeyId: string

  beforeAll(async () => {
    ;({ dataDir, ports } = local.stack())
    ;({ accessKeyId } = await credentialsIn(dataDir)())
  })

  test('only the owner can read the data, including data written by an earlier version', async () => {
    const found = await modes(dataDir)
    for (const part of [
      'sandbox.db-wal',
      'queues/fauxqs.db-wal',
      'dynamodb/CURRENT',
      'parameters.json',
      'aws.env',
      'ports.env',
      'relay.log',
    ])
      expect(found).toContain(`600 ${join(dataDir, part)}`)
    expect(found.filter(line => !/^[67]00 /.test(line))).toEqual([])
  })

  /** fetch() does not allow its callers to set Host and Origin. */
  const send = async (
    { name, path, body, headers }: Attack,
    more: Record<string, string | undefined> = {},
    method = 'POST',
  ): Promise<{ status: number | undefined; cors: string[]; keepAlive: string; body: string }> => {
    const all = Object.entries({ authorization: signedAs(accessKeyId), ...headers, ...more })
    // A separate connection, since the user of a connection is read only once.
    const agent = new Agent({ keepAlive: true })
    const sent = request({
      agent,
      host: '127.0.0.1',
      port: ports[name],
      method,
      path,
      headers: Object.fromEntries(all.filter(([, value]) => value !== undefined)),
    })
    sent.end(method === 'POST' ? body : undefined)
    const [response] = await once(sent, 'response')
    const cors = Object.keys(response.headers).filter(header => header.startsWith('access-control-'))
    const keepAlive = String(response.headers['keep-alive'])
    const received = await text(response)
    agent.destroy()
    return { status: response.statusCode, cors, keepAlive, body: received }
  }

  test.each(ATTACKS)(
    'the $name port serves local clients and refuses requests from other origins',
    async attack => {
      const own = `127.0.0.1:${ports[attack.name]}`
      for (const headers of [{}, { host: `localhost:${ports[attack.name]}` }, { origin: `http://${own}` }])
        expect(Math.floor(((await send(attack, headers)).status ?? 0) / 100)).toBe(2)
      // Longer than clients reuse an idle connection, so that none is closed during a request.
      expect((await send(attack)).keepAlive).toMatch(/^timeout=(6[5-9]|7\d)$/)

      const foreigners = [
        { host: 'evil.test' },
        { host: `evil.test:${ports[attack.name]}`, origin: `http://evil.test:${ports[attack.name]}` },
        { origin: 'http://evil.test' },
        { origin: 'http://127.0.0.1:1' },
        { origin: `https://${own}` },
        { origin: 'null', 'content-type': 'text/plain' },
        { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      ]
      for (const headers of foreigners) {
        for (const method of ['POST', 'OPTIONS', 'GET']) {
          const { status, cors } = await send(attack, headers, method)
          expect([headers, method, status, cors]).toEqual([headers, method, 403, []])
        }
      }
      expect((await send({ ...attack, path: '/webhook' }, { host: 'evil.test' })).status).toBe(
        attack.name === 'relay' ? 401 : 403,
      )
    },
  )

  const services = ATTACKS.filter(({ headers }) => headers.authorization === undefined)
  // Only root can act as another user; where the system does not show the user, every program counts as the same user.
  const testAsStranger = SHOWS_USERS && !IS_ROOT ? test.skip : test
  testAsStranger.each(services)(
    'the $name port refuses other users without the credentials in aws.env',
    async attack => {
      if (IS_ROOT) process.seteuid?.('nobody')
      const wrong = ['local', accessKeyId.slice(1), `${accessKeyId}0`, '0'.repeat(accessKeyId.length)]
      for (const authorization of [undefined, '', accessKeyId, ...wrong.map(signedAs)]) {
        const { status, body } = await send(attack, { authorization })
        expect([authorization, status, JSON.parse(body)]).toEqual([
          authorization,
          403,
          {
            __type: 'UnrecognizedClientException',
            message: expect.stringContaining('use those in aws.env of its data directory'),
          },
        ])
      }
    },
  )
  afterEach(() => {
    if (IS_ROOT) process.seteuid?.(0)
  })
  const testAsOwner = SHOWS_USERS ? test : test.skip
  testAsOwner.each(services)(
    'the $name port serves programs of the same user with any credentials',
    async attack => {
      expect((await send(attack, { authorization: signedAs('local') })).status).not.toBe(403)
    },
  )

  test('POST /webhook is reachable through a tunnel, without CORS headers', async () => {
    const attack = { name: 'relay', path: '/webhook', headers: json, body: '{}' } as const
    const tunnel = { host: 'tunnel.test', origin: 'https://tunnel.test' }
    expect(await send(attack, tunnel)).toMatchObject({ status: 401, cors: [] })
    const read = await send({ ...attack, path: '/api/v1/orders/1/' }, tunnel, 'GET')
    expect(JSON.parse(read.body)).toEqual({
      message:
        'Cannot accept the request: Host is "tunnel.test"; from other web pages and through a tunnel, this port accepts only POST /webhook',
    })
    for (const [path, method] of [
      ['/webhook', 'OPTIONS'],
      ['/webhook', 'GET'],
      ['/webhook/..', 'POST'],
      ['http://tunnel.test/webhook', 'POST'],
    ] as const) {
      expect([path, method, (await send({ ...attack, path }, tunnel, method)).status]).toEqual([
        path,
        method,
        403,
      ])
    }
  })

  test('control characters in an order are escaped in the log, which stays on one line', async () => {
    const external_id = 'a\u001b[2J\u2028b\u009bc'
    const headers = { ...json, authorization: 'Bearer local-api' }
    const body = order(external_id, 'api')
    expect((await send({ name: 'relay', path: '/api/v1/orders/', headers, body })).status).toBeLessThan(300)
    const shown = 'external_id=a\\u001b[2J\\u2028b\\u009bc'
    const { printed } = local.stack()
    await until(() => printed.some(line => line.includes('event processed') && line.includes(shown)))
    expect(printed.filter(line => /[\p{Cc}\u2028]/u.test(line))).toEqual([])
    const log = await readFile(join(dataDir, 'relay.log'), 'utf8')
    expect(log).not.toContain('\u2028')
    expect(log).toContain('"external_id":"a\\u001b[2J\\u2028b\\u009bc"')
  })
}
