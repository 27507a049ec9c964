import { randomUUID } from 'node:crypto'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll } from '@jest/globals'
import { storeProcess } from '../../cli/conformance/store.ts'
import { freePorts } from '../../local/ports.ts'
import { awsEnvironment } from '../../local/settings.ts'
import { ROOT } from '../cli/relay.ts'
import { createQueue, type Parts, startParts } from '../support/parts.ts'

/** A text of an example or of the package, and what replaces it. */
export type Change = readonly [file: string, text: string | RegExp, replacement: string]

/** A store that a copy of an example is, with something changed. */
const exampleStore = (
  folder: string,
  changes: readonly Change[],
  command: readonly string[],
  environment: Record<string, string>,
) => {
  for (const part of ['examples', 'kit']) cpSync(join(ROOT, part), join(folder, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, text, replacement] of changes) {
    const file = join(folder, name)
    const source = readFileSync(file, 'utf8')
    const changed = source.replace(text, () => replacement)
    if (changed === source) throw new Error(`Cannot change ${name}: it has no ${text}`)
    writeFileSync(file, changed)
  }
  const inFolder = command.map(word => (word.startsWith('examples/') ? join(folder, word) : word))
  const DATABASE = join(folder, 'store.sqlite')
  return { database: DATABASE, store: storeProcess(inFolder, { ...process.env, DATABASE, ...environment }) }
}

export const httpStore = async (
  folder: string,
  changes: readonly Change[],
  program: string,
  argsFor: (port: number) => readonly string[],
) => {
  const { relay: port } = await freePorts()
  const secret = 'whsec_c2VjcmV0'
  const environment = { FEED_SECRET: secret, PORT: String(port) }
  const example = exampleStore(folder, changes, [program, ...argsFor(port)], environment)
  return { url: `http://127.0.0.1:${port}/webhook`, secret, ...example }
}

/** Its messages return two seconds after it was killed. */
export const sqsStore = async ({ sqs, ports }: Parts, folder: string, changes: readonly Change[]) => {
  const queueUrl = await createQueue(sqs, `feed-${randomUUID()}.fifo`)
  const soon: Change = ['examples/sqs-consumer.ts', '  signal:', '  visibilityTimeout: 2,\n  signal:']
  const command = [process.execPath, 'examples/sqs-consumer.ts', queueUrl]
  return { sqs, queueUrl, ...exampleStore(folder, [...changes, soon], command, awsEnvironment(ports)) }
}

export const useQueues = () => {
  let parts: Parts
  beforeAll(async () => {
    parts = await startParts()
  })
  afterAll(() => parts.close())
  return () => parts
}
