import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { beforeAll, expect, test } from '@jest/globals'
import { tablesOf } from '@order-relay/deploy/tables.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { CREDENTIALS } from '@order-relay/test-support/parts.ts'
import { clockIn } from 'order-relay-sandbox/src/clock.ts'
import { openStore } from 'order-relay-sandbox/src/store/open.ts'
import { startDynamodb } from '../dynamodb.ts'
import { startParameterStore } from '../parameter-store.ts'
import { freePorts } from '../ports.ts'
import type { Ports } from '../settings.ts'
import { startSqs } from '../sqs.ts'

const folder = useFolder()
let ports: Ports

beforeAll(async () => {
  ports = await freePorts()
})

const parts = {
  dynamodb: () =>
    startDynamodb({
      port: ports.dynamodb,
      path: folder('dynamodb'),
      tables: tablesOf({ prefix: '' }),
      credentials: CREDENTIALS,
    }),
  sqs: () => startSqs({ port: ports.sqs, path: folder('queues') }),
  ssm: () => {
    const path = folder('parameters.json')
    return startParameterStore({ port: ports.ssm, path, seed: ({ put }) => put('/key', 'a secret') })
  },
  sandbox: async () => openStore(folder('sandbox.db'), clockIn('UTC')),
}

const overwrite = (bytes: Buffer) => bytes.fill(0xff, Math.max(0, bytes.length - 4096))
const shorten = (bytes: Buffer) => bytes.subarray(0, -3)
const truncate = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)

test.each([
  ['dynamodb', /^dynamodb\/MANIFEST/, overwrite],
  ['sqs', /^queues\/fauxqs\.db$/, truncate],
  ['ssm', /^parameters\.json$/, shorten],
  ['sandbox', /^sandbox\.db$/, overwrite],
] as const)(
  'data of %s can be reopened; when damaged, the error names the file and the remedy',
  async (part, name, damage) => {
    for (let start = 1; start <= 2; start += 1) await (await parts[part]()).close()

    const file = (await readdir(folder(), { recursive: true })).find(each => name.test(each)) ?? ''
    await writeFile(folder(file), damage(await readFile(folder(file))))
    const opening = parts[part]()
    const path = join(folder(), /^[^/]*/.exec(file)?.[0] ?? '')
    await expect(opening).rejects.toThrow(path)
    await expect(opening).rejects.toThrow(/^Cannot (?:open|read) .*; remove \.order-relay/)
    // Node prints an uncaught error with its cause.
    expect(inspect(await opening.catch((error: unknown) => error), { depth: null })).not.toContain('a secret')
  },
)
