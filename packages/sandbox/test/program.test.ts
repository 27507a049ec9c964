import { chmod, mkdir, readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, jest, test } from '@jest/globals'
import { eachWithFolder } from '@order-relay/test-support/folder.ts'
import { endPrograms, startProgram } from '@order-relay/test-support/program.ts'
import { main } from '../src/main.ts'
import { startSandbox } from '../src/start.ts'
import { type Client, clientOf, eventually, order, startReceiver, upTo } from './world.ts'

/** Orders to create while the program is killed: `SANDBOX_KILL_ORDERS=1000` for the full run. */
const ORDERS = Number(process.env.SANDBOX_KILL_ORDERS ?? 100)

const folder = eachWithFolder(endPrograms)

type RunOptions = { env?: Record<string, string>; cwd?: string }

const run = (args: readonly string[], { env = {}, cwd = '.' }: RunOptions = {}) =>
  startProgram([resolve('packages/sandbox/src/main.ts'), ...args], {
    cwd,
    env: { ...process.env, ...env },
    ipc: true,
  })

const started = async (args: string[] = [], options: RunOptions = {}) => {
  const data = options.cwd === undefined ? ['--data', folder('data.db')] : []
  const program = run(['--port', '0', ...data, ...args], options)
  const [, url] = (await program.printed(/^sandbox ready at (http:\/\/127\.0\.0\.1:\d+)$/m)) ?? []
  if (url === undefined) throw new Error(`Cannot start the sandbox: ${(await program.ended).output}`)
  return { ...program, client: clientOf(url), url }
}

/** All orders by id, with the numbers of their documents. */
const everything = async ({ url }: Client) => {
  const csv = await (await fetch(`${url}/panel/orders.csv`)).text()
  const rows = csv.trim().split('\r\n').slice(1)
  const found = new Map(
    rows.map(row => {
      const [, id = '', , , , status, invoice, receipt] = row.split(',')
      return [id, { status, invoice: Number(invoice), receipt: Number(receipt) }]
    }),
  )
  expect(found.size).toBe(rows.length)
  return found
}

const sorted = (numbers: number[]) => numbers.toSorted((a, b) => a - b)

test('after being killed during creates, has every confirmed order once and delivers its webhooks', async () => {
  let isUp = false
  const { url, received, until, close } = await startReceiver(() => (isUp ? 200 : 500))
  const first = await started(['--speed', '50'])
  await first.client.register(url)
  await first.client.product('SKU-1', { stock: 2 * ORDERS })
  const paid = (id: string) => order(id, { payment: { method: 'card' } })
  const [kept = '', ...ids] = upTo(ORDERS).map(String)
  const confirmed = new Map([[kept, Number((await first.client.create(paid(kept))).body.invoice_number)]])
  await first.client.act(kept, 'reverse-payment')
  await first.client.act(kept, 'pay', { method: 'card' })
  await until(1)
  const create = async (client: Client, id: string) => {
    const { status, body } = await client.create(paid(id))
    if (status === 201) confirmed.set(id, Number(body.invoice_number))
    if (confirmed.size === Math.floor(ORDERS / 2)) first.child.kill('SIGKILL')
  }
  // Twenty stores create orders in sequence until the connection breaks.
  const stores = upTo(20).map(async store => {
    for (const id of ids.filter(each => Number(each) % 20 === store % 20)) await create(first.client, id)
  })
  const ends = await Promise.allSettled(stores)
  await first.ended
  expect(ends.some(({ status }) => status === 'rejected')).toBe(true)

  isUp = true
  const { client } = await started(['--speed', '50'])
  const found = await everything(client)
  for (const [id, number] of confirmed) expect(found.get(id)?.invoice).toBe(number)
  expect(await client.stock('SKU-1')).toBe(2 * ORDERS - 2 * found.size)

  for (const id of ids) expect((await client.create(paid(id))).status).toBe(found.has(id) ? 200 : 201)
  const all = [...(await everything(client)).values()]
  expect(sorted(all.map(({ invoice }) => invoice))).toEqual(upTo(ORDERS))
  // The first receipt was cancelled.
  expect(sorted(all.map(({ receipt }) => receipt))).toEqual(upTo(ORDERS).map(number => number + 1))
  expect(all.every(({ status }) => status === 'paid')).toBe(true)
  expect(await client.stock('SKU-1')).toBe(0)

  const deliveries = await eventually(
    () => client.list('deliveries'),
    sent => sent.every(({ state }) => String(state) === 'delivered'),
  )
  expect(new Set(received.map(({ headers }) => headers['x-service-delivery']))).toEqual(
    new Set(deliveries.map(({ delivery }) => String(delivery))),
  )
  await close()
})

test('data is readable only by its owner, even in a directory of an earlier version, and survives SIGTERM', async () => {
  const data = folder('.order-relay')
  await mkdir(data)
  await chmod(data, 0o755)
  const { child, client, ended, url } = await started([], { cwd: folder() })
  const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
  const files = await readdir(data)
  expect(files).toContain('sandbox.db-wal')
  expect(await mode(data)).toBe('700')
  for (const file of files) expect([file, await mode(join(data, file))]).toEqual([file, '600'])

  await client.create(order('1'))
  const events = await fetch(`${url}/panel/events`)
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, err: '' })
  await expect(events.text()).resolves.toContain(': listening')

  // A restart can use the same port, and no other can; it ends with its parent.
  const { port } = new URL(url)
  const again = await started(['--port', port], { cwd: folder() })
  expect((await again.client.read('1')).body).toMatchObject({ status: 'invoiced' })
  const second = await run(['--data', folder('other.db')], { env: { SANDBOX_PORT: port } }).ended
  expect(second.code).toBe(1)
  expect(second.err).toContain(`Cannot listen on 127.0.0.1:${port}: the port is taken`)
  expect(second.err).toContain('SANDBOX_PORT')
  const third = await run(['--port', '0'], { cwd: folder() }).ended
  expect(third.err).toMatch(
    /^Cannot open the database ".*": another sandbox uses it; stop that one, or use another file with --data$/m,
  )
  again.child.disconnect()
  expect(await again.ended).toMatchObject({ code: 0, signal: null })
})

test('a database of version 12 is searched by the references of cancelled documents after the next start', async () => {
  const data = folder('data.db')
  const found = async (url: string) => {
    const ids = await Promise.all(
      ['bank-77', 'out-88'].map(async q =>
        (await clientOf(url).list(`orders?q=${q}`)).map(each => each.external_id),
      ),
    )
    return ids.flat().map(String)
  }
  const first = await startSandbox({ port: 0, data })
  const { create, act } = clientOf(first.url)
  await create(order('1', { payment: { method: 'card', reference: 'bank-77' } }))
  await act('1', 'reverse-payment')
  await create(order('2', { payment: { method: 'card' } }))
  await act('2', 'return')
  await act('2', 'repay', { method: 'card', reference: 'out-88' })
  await act('2', 'reverse-repayment')
  await first.close()
  const database = new DatabaseSync(data)
  database.exec(
    `UPDATE search SET refs = ''; ALTER TABLE held_payments DROP COLUMN whole;
     ALTER TABLE receipts DROP COLUMN whole; PRAGMA user_version = 12`,
  )
  database.close()
  for (const _ of ['migrated', 'restarted']) {
    const { url, close } = await startSandbox({ port: 0, data })
    expect(await found(url)).toEqual(['1', '2'])
    await close()
  }
})

test('ORDER_RELAY_DATA names the directory of the database', async () => {
  const env = { ORDER_RELAY_DATA: folder('data') }
  const { child, ended } = await started([], { cwd: folder(), env })
  expect(await readdir(env.ORDER_RELAY_DATA)).toContain('sandbox.db')
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, err: '' })
})

const ZONE = { ACCOUNTING_TIME_ZONE: 'Tehran' }

test.each<[string, string[], string, Record<string, string>?]>([
  ['a speed of zero', ['--speed', '0'], 'Cannot use --speed "0": must be a number greater than zero'],
  [
    'an unknown flag',
    ['--sped', '2'],
    "Cannot read the command: unknown option '--sped'; see order-relay-sandbox --help",
  ],
  ['no database', ['--port', '0', '--data', 'package.json'], 'Cannot open the database "package.json"'],
  [
    'a file as the directory of the data',
    ['--port', '0'],
    'Cannot keep data in package.json: it is not a directory; set ORDER_RELAY_DATA to a directory that you can write to',
    { ORDER_RELAY_DATA: 'package.json' },
  ],
  ['an unknown zone', ['--port', '0'], 'Cannot use the accounting time zone "Tehran"', ZONE],
])('reports %s with a clear error', async (_name, args, message, environment = {}) => {
  const before = process.env
  process.env = { ...before, ...environment }
  await expect(main(args)).rejects.toThrow(message)
  process.env = before
})

test('an unknown flag is a usage error', async () => {
  expect(await run(['--sped', '2'], { cwd: folder() }).ended).toMatchObject({ code: 2 })
})

test('--help lists the options', async () => {
  const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true)
  await main(['--help'])
  expect(String(write.mock.calls)).toMatch(/--port N.*--data FILE.*--speed N/s)
  write.mockRestore()
})

test.each<[unknown, string]>([
  [{ prt: 0 }, 'there is no option "prt"; the options are port, data, speed, timeZone, clock'],
  [null, 'the options must be an object'],
  [{ port: 'x' }, "port is 'x', and must be a port, 0 to 65535"],
  [{ port: 0, data: 5 }, 'data is 5, and must be a string that is not empty'],
  [{ port: 0, speed: 'fast' }, "speed is 'fast', and must be a number greater than zero"],
  [{ port: 0, speed: 0 }, 'speed is 0, and must be a number greater than zero'],
  [{ port: 0, timeZone: null }, 'timeZone is null, and must be a string that is not empty'],
  [{ port: 0, clock: Date.now }, 'clock is [Function: now], and must be a function that returns a Date'],
  [{ port: 0, clock: 5 }, 'clock is 5, and must be a function that returns a Date'],
])('startSandbox refuses the options %j', async (options, found) => {
  await expect(startSandbox(options as object)).rejects.toThrow(
    new TypeError(`Cannot start the sandbox: ${found}`),
  )
})
