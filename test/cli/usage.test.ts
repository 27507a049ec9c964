import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, test } from '@jest/globals'
import { cliDocument } from '../../cli/document.ts'
import { relay } from './relay.ts'

const ROOT = join(import.meta.dirname, '../..')

test('docs/cli.md is what the command says of itself; else run: npm run docs:cli', () => {
  expect(readFileSync(join(ROOT, 'docs/cli.md'), 'utf8')).toBe(cliDocument())
})

test('the launcher runs under any Node and passes arguments, output and exit code on', () => {
  const launcher = join(ROOT, 'cli/relay.js')
  const ran = spawnSync(launcher, ['orders', 'list', '--limit', '0'], { encoding: 'utf8', cwd: '/' })
  expect(ran.stderr).toContain('It must be a whole number from 1 on')
  expect(ran.status).toBe(2)
})

describe('a command that makes no sense', () => {
  test.each<[string[], string]>([
    [['ordres'], "unknown command 'ordres' (Did you mean orders?); see relay --help"],
    [['orders', 'shw'], "unknown command 'shw' (Did you mean show?); see relay orders --help"],
    [['orders', 'show', 'api'], "missing required argument 'external_id'; see relay orders show --help"],
    [['orders', 'list', '--lmit', '3'], "unknown option '--lmit' (Did you mean --limit?)"],
    [['orders', 'list', '--since', 'yesterday'], 'a date such as 2026-03-21'],
    [['rotate', '--overlap', 'soon'], 'It must be a time such as 90s, 15m, 2h or 7d'],
    [['doctor', 'now'], 'too many arguments'],
    [['dead', 'replay'], 'no message is named; give ids, a filter such as --source, or --all'],
    [['dead', 'replay', 'x', '--all'], 'both ids and --all are given'],
    [['doctor', '--local', '--stage', 'test'], 'the local stack has no stage "test"'],
    [['send', 'ftp://shop.example', '--external-id', '1'], 'it is not an http or https address'],
    [['send', 'http://127.0.0.1:1'], 'no order is named; name one with --external-id'],
  ])('%j ends with 2 and says why on standard error', async (args, why) => {
    const { code, out, err } = await relay(args)
    expect(err).toContain(why)
    expect(err).toMatch(/^Cannot /)
    expect(err).not.toMatch(/\n {4}at /)
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })

  test('without a subcommand the help is shown, and the exit code is 2', async () => {
    const { code, err } = await relay(['dead'])
    expect(err).toContain('Usage: relay dead')
    expect(code).toBe(2)
  })
})

test('help is no failure, and names the exit codes', async () => {
  const { code, out } = await relay(['--help'])
  expect(out).toMatch(
    /0 {2}all is well\n {2}1 {2}something needs doing.*\n {2}2 {2}the command makes no sense/,
  )
  expect(code).toBe(0)
})

test('with --json an error is a JSON document too', async () => {
  const { err } = await relay(['orders', 'show', '--json'])
  expect(JSON.parse(err)).toEqual({ error: { message: expect.stringMatching(/^Cannot read the command: /) } })
})

test('with --verbose an error says where it comes from', async () => {
  const { err } = await relay(['orders', 'show', '--verbose'])
  expect(err).toMatch(/\n {4}at /)
})

test('a local stack that is not running is named, with the remedy', async () => {
  const { code, err } = await relay(['orders', 'list', '--local'], { environment: { DYNAMODB_PORT: '1' } })
  expect(err).toContain('Cannot reach the local stack: nothing answers')
  expect(err).toContain('npm start')
  expect(code).toBe(1)
})

test('without credentials the remedy is to sign in, or --local', async () => {
  const { code, err } = await relay(['orders', 'list'])
  expect(err).toMatch(/^Cannot use AWS: .*sign in .*or use --local\n$/)
  expect(code).toBe(1)
})

test('the sandbox starts alone with its own options, and ends when it is told to', async () => {
  const args = ['cli/main.ts', 'sandbox', '--port', '0', '--data', ':memory:', '--speed', '100']
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const [, url] = /^sandbox ready at (http:\S+)$/.exec(line) ?? []
  expect((await fetch(`${url}/api/v1/orders/1/`)).status).toBe(401)
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([0, null])
})

test('a sandbox that cannot start says why, and the exit code is 1', async () => {
  const { code, err } = await relay(['sandbox', '--port', 'many'])
  expect(err).toContain('Cannot use --port "many"')
  expect(code).toBe(1)
})
