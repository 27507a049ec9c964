import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { startSandbox } from '../sandbox/start.ts'

const run = promisify(execFile)

test('the client and the signature work on their own, as plain JavaScript with types', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'order-relay-dist-'))
  const sandbox = await startSandbox({ port: 0 })
  try {
    await run('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json', '--outDir', folder])
    await symlink(join(import.meta.dirname, '../node_modules'), join(folder, 'node_modules'))
    const program = `
      import { accountingClient, AccountingError } from '${folder}/accounting/index.js'
      import { sign, verify } from '${folder}/protocol/signature.js'
      const client = accountingClient({ baseUrl: '${sandbox.url}', apiKey: async () => 'sandbox-key' })
      const error = await client.read({ source: 'api', external_id: 'none' }).catch(error => error)
      const body = Buffer.from('{}')
      const { valid } = verify({ header: sign({ secret: 's', t: 1, body }), body, secrets: ['s'], now: 1 })
      console.log(error instanceof AccountingError, error.code, valid)
      process.exit()`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program])
    expect(stdout.trim()).toBe('true unknown_order true')
  } finally {
    await sandbox.close()
    await rm(folder, { recursive: true, force: true })
  }
})
