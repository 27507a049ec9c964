import { rmSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openAccounting } from './accountant.ts'
import { BREAKAGES } from './breakages.ts'
import { startEmulator } from './emulator.ts'
import { copyProject } from './project.ts'
import { pythonTools, skipped } from './python.ts'
import { proveDeployment } from './scenario.ts'
import { StepFailed } from './steps.ts'
import { openStore } from './store.ts'

const USAGE = `Deploys with serverless to an AWS emulator on this machine, uses what is deployed, and removes it.

  --break NAME   break the deployment first, in one of these ways, and see which step notices:
                 ${Object.keys(BREAKAGES).join(', ')}
  --keep         keep the directory with the copy of the project and the emulator's log
  --help         this text
`

/** One proof from an empty account to an empty account; answers with the step that failed. */
const prove = async (python: string, breakage: string | undefined, keep: boolean) => {
  const folder = await mkdtemp(join(tmpdir(), 'order-relay-deploy-'))
  process.once('exit', () => {
    if (keep) process.stdout.write(`kept: ${folder}\n`)
    else rmSync(folder, { recursive: true, force: true })
  })
  // Apart from each other: what the emulator runs must not find the project's package.json around it.
  const [project, cloud] = [join(folder, 'project'), join(folder, 'emulator')]
  await mkdir(cloud)
  const accounting = await openAccounting(join(folder, 'sandbox.db'))
  const store = await openStore('secret-of-the-store')
  try {
    await copyProject(project)
    if (breakage !== undefined) await BREAKAGES[breakage]?.apply(project)
    const emulator = await startEmulator(python, cloud)
    try {
      await proveDeployment({ folder: project, emulator, accounting, store })
      return undefined
    } finally {
      await emulator.stop()
    }
  } catch (error) {
    if (error instanceof StepFailed) return error
    throw error
  } finally {
    await accounting.goAway()
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
    process.stdout.write(`${skipped('the proof of deployment')}\n`)
    return 0
  }
  const failed = await prove(program('python'), breakage, values.keep)
  if (failed !== undefined) process.stderr.write(`\nFailed at step "${failed.step}": ${failed.message}\n`)
  if (breakage === undefined) return failed === undefined ? 0 : 1

  const noticedBy = BREAKAGES[breakage]?.noticedBy
  process.stdout.write(
    `\nbroken on purpose: noticed by ${failed?.step ?? 'no step'}, as it must be by ${noticedBy}\n`,
  )
  return failed?.step === noticedBy ? 0 : 1
}

// Ended early: what was started ends too.
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))
process.exitCode = await main()
