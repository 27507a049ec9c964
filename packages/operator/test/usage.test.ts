import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { sign } from '@order-relay/lib/protocol/signature.ts'
import { settingsFrom } from '@order-relay/local/settings.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { endPrograms } from '@order-relay/test-support/program.ts'
import { ROOT } from '@order-relay/test-support/project.ts'
import { relay, startRelay, writeCredentials } from '@order-relay/test-support/relay.ts'
import { cliDocument, DOCUMENT } from '../docs.ts'

test('docs/cli.md matches the help texts; if not, run: npm run docs', () => {
  expect(readFileSync(DOCUMENT, 'utf8')).toBe(cliDocument())
})

test.each<[string[], number, RegExp]>([
  [['--version'], 0, /^relay 0\.2\.0\n$/],
  [['--help'], 0, /0 {2}success\n {2}1 {2}something needs attention.*\n {2}2 {2}usage error/],
  [['dead'], 2, /Usage: relay dead/],
  [['orders', 'show', '--json'], 2, /^\{"error":\{"message":"Cannot read the command: [^"]*"\}\}\n$/],
  [
    ['orders', '--json'],
    2,
    /^\{"error":\{"message":"Cannot read the command: the subcommand is missing; see/,
  ],
  [['orders', 'show', '--verbose'], 2, /\n {4}at /],
  [['dead', 'replay', '--from', 'missing.json', '--local'], 1, /^Cannot read "missing.json": ENOENT/],
])('%j exits with %i and prints %s', async (args, code, words) => {
  const ran = await relay(args)
  expect(ran.out + ran.err).toMatch(words)
  expect(ran.code).toBe(code)
})

test.each([
  ['ordres', "unknown command 'ordres' (Did you mean orders?); see relay --help"],
  ['orders shw', "unknown command 'shw' (Did you mean show?); see relay orders --help"],
  ['orders check 1001', 'too few arguments for relay orders check <source> <external_id>; see relay orders'],
  [
    'orders show',
    'too few arguments for relay orders show <source> [external_id]; see relay orders show --help',
  ],
  ['orders list --lmit 3', "unknown option '--lmit' (Did you mean --limit?)"],
  ['orders list --since yesterday', 'a date such as 2026-03-21'],
  ['orders list --status payed', 'Allowed choices are needs_review, invoiced, paid, refunded'],
  ['explain-signature --signature x --body x --received-at soon', 'a date such as 2026-03-21'],
  ['sandbox --port many', 'Expected a port number'],
  ['sandbox --speed 0', 'Expected a number greater than zero'],
  ['audit --no-service --repair', "option '--repair' cannot be used with option '--no-service'"],
  ['rotate --overlap soon', 'Expected a duration such as 90s, 15m, 2h or 7d'],
  ['doctor now', 'too many arguments'],
  ['dead replay', 'no message is selected; pass ids, a filter such as --source, or --all'],
  ['dead replay x --all', 'the messages are named in two ways; pass ids, --all or --from alone'],
  ['doctor --local --stage test', 'the local stack has no stage "test"'],
  ['send ftp://shop.example --external-id 1', 'it is not an http or https address'],
  ['send http://127.0.0.1:1', 'no order is given; name one with --external-id'],
])('"%s" exits with 2 and prints the usage error to standard error', async (command, why) => {
  const { code, out, err } = await relay(command.split(' '))
  expect(err).toContain(why)
  expect(err).toMatch(/^Cannot /)
  expect(err).not.toMatch(/\n {4}at /)
  expect({ code, out }).toEqual({ code: 2, out: '' })
})

test('completes commands, options and values', async () => {
  const { out } = await startRelay(['complete', '--', 'orders', 'list', '--s']).ended
  expect(out).toMatch(/^--source\t.*\n--status\t.*\n--since\t/)
  expect((await startRelay(['completion', 'bash']).ended).out).toContain('complete -F __relay_complete relay')
})

const file = useFolder(endPrograms)

test('explain-signature names the cause of a mismatch, and never shows the secret', async () => {
  const body = file('body.json')
  await writeFile(body, '{"total": "10"}\n')
  const signature = sign({ secret: 'whsec', t: 1_800_000_000, body: '{"total": "10"}' })
  const options = ['--signature', signature, '--body', body, '--received-at', '2027-01-15T08:00:00Z']
  const { code, out } = await relay(['explain-signature', ...options], { input: '"whsec"' })
  expect(out).toContain('whitespace around the body was added, and there are quotes around the secret\n')
  expect(out).toContain('\nRemedy: ')
  expect(out).not.toContain('whsec')
  expect(code).toBe(1)
})

test('reports with a remedy that the local stack is not running', async () => {
  const list = () =>
    startRelay(['orders', 'list', '--local'], { DYNAMODB_PORT: '1', ORDER_RELAY_DATA: file() }).ended
  const remedy = 'start it with: npm start; if it already runs, set ORDER_RELAY_DATA to its data directory'
  expect(await list()).toMatchObject({
    code: 1,
    err: `Cannot reach the local stack: there are no credentials in ${file()}; ${remedy}\n`,
  })
  await writeCredentials(file(), settingsFrom({}).ports)
  const { code, err } = await list()
  const unreachable =
    /^Cannot reach the local stack: no response .*; start it with: npm start; if it already runs, set ORDER_RELAY_DATA to its data directory$/m
  expect(err).toMatch(unreachable)
  expect(code).toBe(1)

  await writeFile(file('relay.log'), '')
  const tail = startRelay(['tail', '--local'], { SQS_PORT: '1', ORDER_RELAY_DATA: file() })
  await tail.printed(/Waiting for new lines/)
  tail.child.kill('SIGINT')
  expect((await tail.ended).err).toMatch(unreachable)
})

test('the launcher runs on any Node, and without credentials suggests to sign in or use --local', async () => {
  const launcher = join(ROOT, 'packages/operator/relay.js')
  const { code, err } = await startRelay(['dead', 'list'], { HOME: file() }, launcher).ended
  expect(err).toMatch(/^Cannot use AWS: .*sign in .*or use --local\n$/)
  expect(code).toBe(1)
})

test('relay sandbox runs with its options until it is stopped', async () => {
  const options = ['--port', '0', '--data', file('sandbox.db'), '--speed', '100']
  const { child, ended, printed } = startRelay(['sandbox', ...options])
  const [, url = ''] = (await printed(/^sandbox ready at (http:\S+)$/m)) ?? []
  expect((await fetch(`${url}/api/v1/orders/1/`)).status).toBe(401)
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, signal: null })
})
