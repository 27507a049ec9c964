import { rmSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmulator } from './emulator.ts'
import { openAccounting, openStore } from './parties.ts'
import { change, copyProject } from './project.ts'
import { pythonTools, skipped } from './python.ts'
import { testDeployment } from './scenario.ts'
import { StepFailed } from './steps.ts'

/** Ways to break a deployment on purpose, each with the step that must fail. */
const BREAKAGES: Readonly<Record<string, { fails: string; apply: (folder: string) => Promise<void> }>> = {
  'no handler': {
    fails: 'register',
    apply: folder =>
      change(folder, 'serverless.yml', 'functions/webhook.handler', 'functions/webhook.absent'),
  },
  'worker may not write feeds': {
    fails: 'feed',
    apply: folder =>
      change(
        folder,
        'deploy/roles.ts',
        '[arnOf(QUEUE_IDS.quarantine), feeds]',
        '[arnOf(QUEUE_IDS.quarantine)]',
      ),
  },
  'orders are not retained': {
    fails: 'remove',
    apply: async folder => {
      await change(folder, 'deploy/tables.ts', 'retained: true', 'retained: false')
      await change(
        folder,
        'deploy/tables.ts',
        'DeletionProtectionEnabled: true',
        'DeletionProtectionEnabled: false',
      )
    },
  },
}

const USAGE = `Deploys with serverless to an AWS emulator on this machine, uses the deployment, and removes it.

  --break NAME   break the deployment first and check which step fails:
                 ${Object.keys(BREAKAGES).join(', ')}
  --keep         keep the directory with the copy of the project and the emulator's log
  --help         show this help
`

/** Runs the scenario in an empty account; returns the step that failed. */
const run = async (python: string, breakage: string | undefined, keep: boolean) => {
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
    if (breakage !== undefined) await BREAKAGES[breakage]?.apply(project)
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
      break: { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const breakage = values.break
  if (breakage !== undefined && BREAKAGES[breakage] === undefined) {
    process.stderr.write(
      `Cannot break "${breakage}": it must be one of ${Object.keys(BREAKAGES).join(', ')}\n`,
    )
    return 2
  }
  const program = await pythonTools('emulator', 'test/deploy/emulator-requirements.txt')
  if (program === undefined) {
    process.stdout.write(`${skipped('the deployment test')}\n`)
    return 0
  }
  const failed = await run(program('python'), breakage, values.keep)
  if (failed !== undefined) process.stderr.write(`\nFailed at step "${failed.step}": ${failed.message}\n`)
  if (breakage === undefined) return failed === undefined ? 0 : 1

  const fails = BREAKAGES[breakage]?.fails
  process.stdout.write(`\nbroken on purpose: failed at ${failed?.step ?? 'no step'}, expected ${fails}\n`)
  return failed?.step === fails ? 0 : 1
}

// Exit handlers stop what was started.
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))
process.exitCode = await main()
