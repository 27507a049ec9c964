import { rmSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmulator } from './emulator.ts'
import { openAccounting, openStore } from './parties.ts'
import { copyProject } from './project.ts'
import { pythonTools, skipped } from './python.ts'
import { testDeployment } from './scenario.ts'
import { StepFailed } from './steps.ts'

const USAGE = `Deploys with serverless to an AWS emulator on this machine, uses the deployment, and removes it.

  --keep   keep the directory with the copy of the project and the emulator's log
  --help   show this help
`

/** Runs the scenario in an empty account; returns the step that failed. */
const run = async (python: string, keep: boolean) => {
  const folder = await mkdtemp(join(tmpdir(), 'order-relay-deploy-'))
  process.once('exit', () => {
    if (keep) process.stdout.write(`kept: ${folder}\n`)
    else rmSync(folder, { recursive: true, force: true })
  })
  // Siblings: functions in the emulator must not find the project's package.json in a parent directory.
  const [project, cloud] = [join(folder, 'project'), join(folder, 'emulator')]
  await mkdir(cloud)
  const accounting = await openAccounting(join(folder, 'sandbox.db'))
  const store = await openStore('secret-of-the-store')
  try {
    await copyProject(project)
    const emulator = await startEmulator(python, cloud)
    try {
      await testDeployment({ folder: project, emulator, accounting, store })
      return undefined
    } finally {
      await emulator.stop()
    }
  } catch (error) {
    if (error instanceof StepFailed) return error
    throw error
  } finally {
    await accounting.stop()
    await store.close()
  }
}

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const program = await pythonTools('emulator', 'test/deploy/emulator-requirements.txt')
  if (program === undefined) {
    process.stdout.write(`${skipped('the deployment test')}\n`)
    return 0
  }
  const failed = await run(program('python'), values.keep)
  if (failed !== undefined) process.stderr.write(`\nFailed at step "${failed.step}": ${failed.message}\n`)
  return failed === undefined ? 0 : 1
}

// Exit handlers stop what was started.
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))
process.exitCode = await main()
