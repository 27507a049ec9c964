import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Part } from '../context.ts'
import { spread } from '../report.ts'
import { measured } from '../statistics.ts'

const ROUNDS = 9

/** What a function may load of Node before its first answer. */
const LOADED: Readonly<Record<string, string>> = {
  "import 'node:http'": "await import('node:http')",
  "process.getBuiltinModule('node:http')": "process.getBuiltinModule('node:http')",
  "process.getBuiltinModule('node:https')": "process.getBuiltinModule('node:https')",
  "import 'node:crypto'": "await import('node:crypto')",
  'the first fetch of anything': "await fetch('http://127.0.0.1:1').catch(() => undefined)",
}

const program = (statement: string) =>
  `const before = process.cpuUsage(); ${statement}
  const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000)`

/** CPU time to load what talks to AWS. */
export const loading: Part = async () => {
  const found = new Map<string, number[]>(Object.keys(LOADED).map(name => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, statement] of Object.entries(LOADED)) {
      const { stdout } = await promisify(execFile)(process.execPath, [
        '--input-type=module',
        '-e',
        program(statement),
      ])
      found.get(name)?.push(Number(stdout))
    }
  }
  return {
    title: 'What loading costs',
    text: [
      'CPU time of one statement in a process of its own. To import `node:http` as an ES module reads all its ' +
        'exports, and with `WebSocket` among them it loads undici; the same module as a built-in does not. AWS ' +
        'clients and other packages that import it pay that at every cold start.',
    ],
    tables: [
      {
        head: ['', 'CPU, ms'],
        rows: [...found].map(([name, values]) => [`\`${name}\``, spread(measured(values))]),
      },
    ],
    targets: [],
  }
}
