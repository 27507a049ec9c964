import { randomUUID } from 'node:crypto'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll } from '@jest/globals'
import { awsEnvironment } from '@order-relay/local/credentials.ts'
import { freePorts } from '@order-relay/local/ports.ts'
import { storeProcess } from '@order-relay/operator/conformance/store-process.ts'
import { programOf } from '../../test/support/examples.ts'
import { useFolder } from '../../test/support/folder.ts'
import { CREDENTIALS, createQueue, type Parts, startParts } from '../../test/support/parts.ts'
import { linkModules, ROOT } from '../../test/support/project.ts'

/** A text of an example or the package, and its replacement. */
export type Change = readonly [file: string, text: string | RegExp, replacement: string]

/** A short visibility timeout, so that undeleted messages return after a second. */
const SOON: readonly Change[] = [
  ['examples/sqs-consumer.ts', '  signal:', '  visibilityTimeout: 1,\n  signal:'],
  ['examples/sqs-consumer.py', 'VISIBILITY_SECONDS = 60', 'VISIBILITY_SECONDS = 1'],
  ['examples/sqs-consumer.py', 'MAX_DELAY = 900', 'MAX_DELAY = 1'],
  ['packages/store/src/sqs.ts', 'MAX_DELAY = 900', 'MAX_DELAY = 1'],
]

/** Embedded services for the tests of a file, and stores that are copies of an example. */
export const useExamples = () => {
  let parts: Parts
  const folder = useFolder(() => parts.close())
  beforeAll(async () => {
    parts = await startParts()
  })

  /** A store that is a modified copy of an example, with its feed. */
  const copyOf = async (example: string, changes: readonly Change[]) => {
    const path = folder(randomUUID())
    for (const part of ['examples', 'packages/store'])
      cpSync(join(ROOT, part), join(path, part), { recursive: true })
    await linkModules(path)
    for (const [name, text, replacement] of [...changes, ...SOON]) {
      const file = join(path, name)
      const source = readFileSync(file, 'utf8')
      const changed = source.replace(text, () => replacement)
      if (changed === source) throw new Error(`Cannot change ${name}: it has no ${text}`)
      writeFileSync(file, changed)
    }
    const { relay: port } = await freePorts()
    const queueUrl = await createQueue(parts.sqs, `feed-${randomUUID()}.fifo`)
    const [database, secret] = [join(path, 'store.sqlite'), 'whsec_c2VjcmV0']
    // PHP's default, with which an exception returns 200.
    const options = example.endsWith('.php') ? ['-d', 'display_errors=1', '-S', `127.0.0.1:${port}`] : []
    const store = storeProcess([programOf(example), ...options, join(path, example), queueUrl], {
      ...process.env,
      ...awsEnvironment(parts.ports, CREDENTIALS),
      DATABASE: database,
      FEED_SECRET: secret,
      PORT: String(port),
    })
    return { store, database, queueUrl, secret, url: `http://127.0.0.1:${port}/webhook` }
  }
  return { parts: () => parts, copyOf }
}

export type Examples = ReturnType<typeof useExamples>
export type Example = Awaited<ReturnType<Examples['copyOf']>>
