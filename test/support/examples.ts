import { spawnSync } from 'node:child_process'
import { extname } from 'node:path'

const PROGRAMS: Readonly<Record<string, string>> = { '.php': 'php', '.py': 'python3' }

/** The program that runs an example. */
export const programOf = (example: string) => PROGRAMS[extname(example)] ?? process.execPath

/** Arguments with which the program fails if it lacks what the example needs. */
const probeOf = (example: string) => {
  if (example.endsWith('.php')) return ['-r', 'exit(extension_loaded("pdo_sqlite") ? 0 : 1);']
  if (example.endsWith('.py')) return ['-c', `import ${example.includes('sqs') ? 'boto3' : 'sqlite3'}`]
  return ['--version']
}

/** Whether this machine has the program and the modules of an example. */
export const isRunnable = (example: string): boolean =>
  spawnSync(programOf(example), probeOf(example)).status === 0
