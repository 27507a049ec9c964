import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '@order-relay/lib/platform/stores.ts'
import { ROOT } from '../core/stack.ts'

/** The code of an example without its header, with replacements. */
const example = (file: string, changes: Readonly<Record<string, string>> = {}): string => {
  const text = readFileSync(join(ROOT, 'examples', file), 'utf8')
  const code = text.slice(/^import /m.exec(text)?.index).trimEnd()
  return Object.entries(changes).reduce((changed, [from, to]) => changed.replace(from, to), code)
}

/** The messages of exact stores have no version, and `relay stores test` sends them nothing. */
const EXACT_PYTHON = {
  'version, status = f"v{message[\'version\']}", ': 'status = ',
  'version, message["event"]': 'message["event"]',
  'if message["event"] != "relay.test":\n            ': '',
}

const javaScriptOf = (isSqs: boolean, url: string, exact: boolean) => {
  const changes = { "process.argv[2] ?? ''": `'${url}'` }
  if (exact) {
    const name = isSqs ? 'exact-consumer' : 'exact-receiver'
    return example(`${name}.mjs`, { ...changes, './exact-once.mjs': './once.mjs' })
  }
  // The example has no types; Node 20 has no SQLite.
  return example(isSqs ? 'sqs-consumer.ts' : 'http-receiver.ts', {
    ...changes,
    './once.ts': './once.mjs',
    'store.sqlite': 'handled',
    // Files have no transactions.
    'Its writes belong in the transaction that records the message':
      'A message is handled again if the program is killed before it is recorded: see once.mjs',
  })
}

/**
 * A program that receives the messages of a store, by file. It runs unchanged on Node 20 or later and in Python.
 *
 * @param url the queue of an SQS feed
 */
export const programsOf = ({ feed, exact = false }: Pick<Store, 'feed' | 'exact'>, url: string) => {
  const isSqs = feed === 'sqs'
  const once = exact ? 'exact-once' : 'once'
  const packages = [
    ...(isSqs && exact ? [] : ['order-relay-store']),
    ...(isSqs ? ['@aws-sdk/client-sqs'] : []),
  ]
  const unpublished =
    '// Until order-relay-store is published: packages/store/README.md says how to install it\n'
  const python = example(`${isSqs ? 'sqs-consumer' : 'http-receiver'}.py`, {
    'import sys\n': '',
    'sys.argv[1]': `"${url}"`,
    ...(exact && EXACT_PYTHON),
  })
  return {
    'store.mjs': `// npm install ${packages.join(' ')}
${isSqs && exact ? '' : unpublished}${javaScriptOf(isSqs, url, exact)}`,
    'once.mjs': example(`${once}.mjs`),
    'store.py': `${isSqs ? '# pip install boto3\n' : ''}${python}`,
    'once.py': example(`${once}.py`),
  }
}
