import { appendFile, cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { fetchJson } from '@order-relay/test-support/fetch-json.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { endPrograms, type Program, runProgram, startProgram } from '@order-relay/test-support/program.ts'
import { copyProject, ROOT } from '@order-relay/test-support/project.ts'
import { relayOf } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'
import { freePorts } from '../ports.ts'
import { environmentOf, type Settings, urlOf } from '../settings.ts'
import { startStack } from '../stack.ts'
import { alive, familyOf } from './processes.ts'

let settings: Settings
const local = relayOf(() => environmentOf(settings))

const dataDir = useFolder(endPrograms)
beforeAll(async () => {
  settings = { ports: await freePorts(), dataDir: dataDir(), watch: false }
})

/** Runs `npm start`, or only its script, until it has printed something. */
const start = async (awaited: RegExp, ...npm: string[]) => {
  const env = { ...process.env, ...environmentOf(settings) }
  const [program, args] = npm.length > 0 ? ['npm', npm] : [process.execPath, ['packages/local/start.ts']]
  const started = startProgram(args, { env, program })
  await started.printed(awaited)
  return started
}

/** The line with the console's address and its token, and the other addresses below it. */
const READY = /^ready: console (http:\S+\?token=([\w-]{43}))$[\s\S]*^ {7}feeds .*$/m

const npmStart = (awaited: RegExp) => start(awaited, 'start', '--silent')

/** Ends one process of a start and waits until all others have ended. */
const kill = async ({ child: { pid = 0 } }: Program, signal: NodeJS.Signals, script?: string) => {
  const family = await familyOf(pid)
  expect(family.length).toBeGreaterThan(2)
  const victim =
    script === undefined
      ? pid
      : family.find(({ command }) => command.includes(script) && !command.startsWith('sh'))?.pid
  if (victim === undefined) throw new Error(`Cannot find a child of ${pid} that runs ${script}`)
  process.kill(victim, signal)
  await until(async () => (await alive(family)).length === 0)
}

test.each([
  ['--nope', '"--nope" is not an option; the options are --verbose, --help'],
  ['now', '"now" is not an option; see npm start -- --help'],
])('npm start refuses %s', async (argument, found) => {
  const ran = await runProgram(['packages/local/start.ts', argument], { env: process.env })
  expect(ran).toMatchObject({ code: 2, output: `Cannot start: ${found}\n` })
})

describe('npm start', () => {
  let first: Program
  beforeAll(async () => {
    first = await npmStart(READY)
  })

  test('prints the addresses when it is ready', async () => {
    const { ports } = settings
    const [, address = '', token = ''] = (await first.printed(READY)) ?? []
    expect(address).toBe(`${urlOf(ports.console)}/?token=${token}`)
    expect(first.lines()).toContain('Starting: waiting for the sandbox, the relay, the console')
    const lines = first.lines()
    const ready = `ready: console ${address}`
    expect(lines.filter(line => line.includes(token))).toEqual([ready])
    expect(lines.slice(lines.indexOf(ready) + 1).filter(line => line.startsWith(' '))).toEqual([
      `       sandbox panel ${urlOf(ports.sandbox)}/`,
      `       relay ${urlOf(ports.relay)}`,
      `       feeds ${urlOf(ports.sqs)}/000000000000/feed-<source>.fifo with the credentials in ${dataDir('aws.env')}`,
    ])
    const openSession = (body: object) =>
      fetch(`${urlOf(ports.console)}/api/session`, {
        method: 'POST',
        headers: { origin: urlOf(ports.console), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    expect((await openSession({})).status).toBe(process.platform === 'linux' ? 200 : 401)
    expect((await openSession({ token })).status).toBe(200)
    const [, next = ''] = (await first.printed(/^console \| for another session: (http:\S+)$/m)) ?? []
    expect(next).not.toBe(address)
    expect(next).toMatch(new RegExp(`^${urlOf(ports.console)}/\\?token=[\\w-]{43}$`))
    expect(await readFile(join(dataDir(), 'relay.log'), 'utf8')).not.toContain('?token=')
    expect((await fetch(`${urlOf(ports.relay)}/webhook`, { method: 'POST', body: '{}' })).status).toBe(401)
    expect((await fetch(`${urlOf(ports.sandbox)}/`)).status).toBe(200)
    const { code, out } = await local.relay(['doctor'])
    expect(out).toContain('No problems found in the local stack.')
    expect(code).toBe(0)
  })

  test('the commands say that a data directory has no credentials', async () => {
    const environment = { ORDER_RELAY_DATA: dataDir('none') }
    for (const command of [['orders', 'list'], ['stores', 'list'], ['audit']])
      expect((await local.relay(command, { environment })).err).toContain(
        'Cannot reach the local stack: there are no credentials in',
      )
  })

  test('can be set up again with the commands only', async () => {
    const url = `${urlOf(settings.ports.relay)}/webhook`
    const unconfirmed = await local.relay(['unregister'], { input: '' })
    expect(unconfirmed.code).toBe(1)
    expect(unconfirmed.err).toContain(`not confirmed by its name; type it, or pass --yes "${url}"`)
    expect((await local.relay(['status'])).out).toContain('No alarm is active.')
    expect((await local.relay(['unregister'], { input: `${url}\n` })).code).toBe(0)
    const { out: status } = await local.relay(['status'])
    expect(status).toMatch(/^!! {4}the webhook is not registered: /)
    expect(status).not.toContain('No alarm is active.')
    const unregistered = await local.relay(['doctor'])
    expect(unregistered.code).toBe(1)
    expect(unregistered.out).toMatch(/!! {4}the webhook is not registered: no secret is stored/)
    expect(unregistered.out).toContain(`→ relay register --url '${url}' --local`)

    const kept = await local.relay(['key', 'set'], { input: 'sandbox-key\n' })
    expect(kept.out).toContain(`${urlOf(settings.ports.sandbox)} accepts it, with the scope orders.write`)
    expect(kept.out + kept.err).not.toContain('sandbox-key')

    const registered = await local.json(['register'])
    expect(registered.data).toMatchObject({ url, registered: 'now', accepted: true })
    const again = await local.json(['register'])
    expect(again.data).toMatchObject({ registered: 'before', secret: registered.data.secret, accepted: true })
    expect(await local.json(['doctor'])).toMatchObject({ code: 0, data: { ok: true, problems: 0 } })
  })

  test('reports that a secret belongs to another URL', async () => {
    const url = 'http://127.0.0.1:9/webhook'
    const { code, err } = await local.relay(['register', '--url', url])
    expect(err).toContain('Cannot confirm that the secret is accepted')
    expect(code).toBe(1)
    const { data } = await local.json(['doctor'])
    expect(JSON.stringify(data.findings)).toContain(`not of ${urlOf(settings.ports.relay)}/webhook`)
    expect((await local.json(['unregister', '--url', url, '--yes', url])).data.removed).toHaveLength(1)
  })

  test('refuses a second start, and stops all components when one exits', async () => {
    const { code, output } = await (await start(READY)).ended
    expect(code).toBe(1)
    expect(output).toContain(`Cannot start: ports ${settings.ports.relay}, `)
    expect(output).toContain('are taken, perhaps by another npm start; stop it, or set RELAY_PORT, ')
    await kill(first, 'SIGKILL', 'serverless')
    const ended = await first.ended
    expect(ended.code).toBe(1)
    expect(ended.output).toMatch(/^Stopped: the relay was ended by SIGKILL$/m)
  })
})

test('leaves no process behind when stopped or killed at any moment', async () => {
  const early = /^sandbox \| sandbox ready/m
  const stopped = await start(early)
  await kill(stopped, 'SIGINT')
  expect((await stopped.ended).code).toBe(0)
  await kill(await start(early), 'SIGKILL')
  // npm itself, which cannot notify anyone.
  await kill(await npmStart(early), 'SIGKILL')
})

test('leaves no process behind after an aborted or failed start', async () => {
  const running = async () => (await alive(await familyOf(process.pid))).length
  const before = await running()
  const starting = new AbortController()
  const print = () => starting.abort()
  const aborted = startStack({ ...settings, dataDir: dataDir('aborted'), signal: starting.signal, print })
  // Reports immediately that a component has ended.
  await expect(aborted).rejects.not.toHaveProperty('name', 'AbortError')
  expect(await running()).toBeLessThanOrEqual(before)

  const broken = startStack({ ...settings, dataDir: dataDir('broken'), speed: 0 })
  await expect(broken).rejects.toThrow(/^Cannot start the sandbox: it ended with exit code 1 \(.*--speed/)
  expect(await running()).toBeLessThanOrEqual(before)
})

describe('in a copy of the project', () => {
  const project = useFolder(endPrograms)
  const folder = () => project('project')
  let line: number
  beforeAll(async () => {
    await copyProject(folder())
    line = (await readFile(join(folder(), 'stores.yml'), 'utf8')).split('\n').length
  })

  const run = (args: readonly string[], changes: Partial<Settings> = {}) => {
    const env = {
      ...process.env,
      ...environmentOf({ ...settings, ...changes }),
      ACCOUNTING_URL: 'https://accounting.example',
      // Jest sets it, and Serverless then prints less.
      NODE_ENV: undefined,
    }
    return runProgram(args, { cwd: folder(), env })
  }

  test('a store added to stores.yml while orders fail is served without a manual restart', async () => {
    const stores = join(folder(), 'stores.yml')
    await cp(join(ROOT, 'stores.yml'), stores)
    const env = { ...process.env, ...environmentOf({ ...settings, watch: true, dataDir: project('added') }) }
    const started = startProgram(['packages/local/start.ts'], { cwd: folder(), env })
    await started.printed(READY)
    await appendFile(stores, '  - source: third\n    fed: sqs\n')
    await started.printed(/The relay keeps the stores api, demo-shop until this is fixed\.$/m)
    const listed = await runProgram(['packages/operator/main.ts', 'stores', 'list', '--local'], {
      cwd: folder(),
      env,
    })
    expect(listed).toMatchObject({ code: 0, output: expect.stringMatching(/^demo-shop /m) })
    const unknown = await runProgram(['packages/operator/main.ts', 'stores', 'show', 'third', '--local'], {
      cwd: folder(),
      env,
    })
    expect(unknown.output).toContain('Cannot find the store "third": the local relay has "api", "demo-shop"')
    const checked = await runProgram(['packages/operator/main.ts', 'doctor', '--local'], {
      cwd: folder(),
      env,
    })
    expect(checked).toMatchObject({ code: 1, output: expect.stringContaining('stores.yml has errors') })
    expect(listed.output).toMatch(
      /:\nline \d+: "stores\[2\]\.fed" is not a known key.*\nThe relay keeps the stores api, demo-shop/,
    )
    // New threads load the unchanged functions.
    const reads = Array.from({ length: 20 }, () =>
      fetch(`${urlOf(settings.ports.relay)}/api/v1/orders/1/?source=demo-shop`, {
        headers: { authorization: 'Bearer local-demo-shop' },
      }),
    )
    for (const { status } of await Promise.all(reads)) expect(status).toBe(404)
    expect(started.lines().filter(text => /^relay .*(\bat |\[)/.test(text))).toEqual([
      expect.stringContaining('"stores[2].fed" is not a known key, and "feed" is missing'),
    ])
    await cp(join(ROOT, 'stores.yml'), stores)
    await started.printed(/^relay {3}\| stores\.yml is valid again: the relay uses its stores$/m)
    await rm(stores)
    await started.printed(/stores\.yml: it does not exist\n.*The relay keeps the stores api, demo-shop/)
    expect(started.lines().filter(text => text.includes('does not exist'))).toHaveLength(1)
    expect(started.lines().filter(text => text.includes('[ERROR]'))).toEqual([])
    await cp(join(ROOT, 'stores.yml'), stores)
    const items = [{ sku: 'SKU-1', quantity: 1, unit_price: 1 }]
    const create = async (source: string, headers = {}) => {
      const url = `${urlOf(settings.ports.relay)}/api/v1/orders/`
      const body = { source, external_id: '1', items }
      return (await fetchJson(url, { method: 'POST', key: `local-${source}`, headers, body })).status
    }
    const faults = `${urlOf(settings.ports.sandbox)}/panel/faults`
    await fetchJson(faults, { method: 'POST', key: 'sandbox-key', body: { kind: 'error', status: 503 } })
    expect(await create('api', { prefer: 'respond-async' })).toBe(202)
    await started.printed(/event retried/)
    // Meanwhile, a scheduled check runs for almost a minute.
    await appendFile(stores, '  - source: third\n    feed: sqs\n')
    await started.printed(/stores\.yml has changed: the relay serves the stores api, demo-shop, third$/m)
    await fetchJson(faults, { method: 'DELETE', key: 'sandbox-key' })
    expect(await create('third')).toBe(201)
    await cp(join(ROOT, 'stores.yml'), stores)
    await started.printed(
      /: the queue feed-third\.fifo of the store third keeps its messages, if any, until /,
    )
    started.child.kill('SIGINT')
    const { code, out } = await started.ended
    expect(code).toBe(0)
    expect(out).toMatch(/^stopped; data kept in .+$/m)
  })

  test.each([
    ['npm start', ['packages/local/start.ts']],
    ['npx serverless offline', ['node_modules/serverless/bin/serverless.js', 'offline']],
    ['npx relay', ['packages/operator/main.ts', 'stores', 'secret', 'third', '--local']],
  ])('an error in stores.yml prints a single message in %s', async (_name, args) => {
    await cp(join(ROOT, 'stores.yml'), join(folder(), 'stores.yml'))
    await appendFile(join(folder(), 'stores.yml'), '  - source: third\n    fed: sqs\n')
    // No relay has started with it, whose stores the command would use.
    const { code, output } = await run(args, { dataDir: project('unused') })
    expect(code).toBe(1)
    const [start, unknown, ...rest] = output.split('\n')
    expect(start).toMatch(/^Cannot read (?:\/.*)?stores\.yml:$/)
    expect(unknown).toMatch(`line ${line + 1}: "stores[2].fed" is not a known key, and "feed" is missing: `)
    expect(rest).toEqual([''])
  })

  test('an error in ORDER_RELAY_DATA names the variable', async () => {
    await cp(join(ROOT, 'stores.yml'), join(folder(), 'stores.yml'))
    const dataDir = join(folder(), 'package.json')
    for (const path of [dataDir, join(dataDir, 'below')]) {
      expect(await run(['packages/local/start.ts'], { dataDir: path })).toMatchObject({
        code: 1,
        output: `Cannot keep data in ${path}: it is not a directory; set ORDER_RELAY_DATA to a directory that you can write to\n`,
      })
    }
  })
})
