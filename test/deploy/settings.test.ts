import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { assertDeployable } from '../../deploy/settings.ts'
import { change, copyProject, serverless } from './project.ts'

const GOOD = 'https://accounting.example/base'

describe('the URL of the accounting service', () => {
  const check = (accountingUrl: string, stage = 'production') =>
    assertDeployable({ stage, accountingUrl, feedAddresses: 'public', stores: [] })

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
    const start = `Cannot deploy: the base URL of the accounting service ${problem} set it, such as ACCOUNTING_URL=https://`
    expect(() => check(url)).toThrow(start)
  })

  test.each([GOOD, 'HTTPS://accounting.example:8443'])('%j is accepted', url => {
    expect(() => check(url)).not.toThrow()
  })

  test('may be http in the stage "local"', () => {
    expect(() => check('http://127.0.0.1:4000', 'local')).not.toThrow()
  })
})

describe('serverless package', () => {
  let folder: string
  let project: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'order-relay-package-'))
    project = join(folder, 'project')
    await copyProject(project)
    const feed = 'stores:\n  - source: shop\n    feed:\n      http: http://localhost:8080/hook\n'
    await change(project, 'stores.yml', 'stores:\n', feed)
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  test.each([
    [
      'an http URL',
      'http://accounting.example',
      'service is "http://accounting.example", which does not begin with https://; set it',
    ],
    ['no URL', '', 'service is not set; set it'],
    ['a loopback feed', GOOD, 'the HTTP feed of the store "shop" is http://localhost:8080/hook'],
    [
      'loopback addresses for feeds',
      GOOD,
      'feedAddresses is "loopback", which only the local stack may use',
      '--param=feedAddresses=loopback',
    ],
  ])('refuses %s before anything is packaged', async (_what, accountingUrl, problem, ...more) => {
    const env = { ...process.env, ACCOUNTING_URL: accountingUrl }
    const { code, output } = await serverless(project, env, 'package', ...more)
    expect(output).toContain('Cannot deploy: ')
    expect(output).toContain(problem)
    // The message alone, without a stack.
    expect(output).not.toMatch(/ at .*settings\.ts|Service packaged/)
    expect(code).toBe(1)
  })

  test('accepts all of them in the stage "local"', async () => {
    const { code } = await serverless(project, process.env, 'package', '--stage', 'local')
    expect(code).toBe(0)
  })
})
