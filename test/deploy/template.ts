import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as v from 'valibot'
import { deployerProblems } from './deployer.ts'
import { NESTED } from './packaged.ts'
import { copyProject, must, ROOT, serverless } from './project.ts'
import { pythonTools, skipped } from './python.ts'
import { exceeded } from './quotas.ts'
import { StepFailed, step } from './steps.ts'
import { foreignFiles, overBudget } from './zips.ts'

const run = promisify(execFile)
const PACKAGED = '.serverless/cloudformation-template-update-stack.json'

const budgets = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.number()))

/** Runs a checker; its output becomes the error. */
const check = async (program: string, args: readonly string[]) => {
  try {
    await run(program, [...args], { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 })
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout).trim() : ''
    throw new Error(said === '' ? String(error) : said)
  }
}

const none = (problems: readonly string[]) => {
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

/** As many stores as one stack must hold, with sources of which none is a name. */
const manyStores = () => {
  const sources = Array.from({ length: 400 }, (_, index) => `فروشگاه شماره ${index}`)
  const feed = (index: number) => (index < 300 ? 'sqs' : `{ http: "https://shop-${index}.example/webhook" }`)
  return `stores:\n${sources.map((source, index) => `  - { source: ${source}, feed: ${feed(index)} }\n`).join('')}`
}

/** Packages the project and checks the templates without deploying them. */
const checkTemplate = async (folder: string, program: (name: string) => string) => {
  const env = {
    ...process.env,
    ACCOUNTING_URL: 'https://accounting.example',
    ALARM_EMAIL: 'somebody@example.com',
    DOMAIN: 'relay.example',
    CERTIFICATE_ARN: 'arn:aws:acm:eu-central-1:123456789012:certificate/0123',
    HOSTED_ZONE_ID: 'Z0123456789ABCDEFGHIJ',
  }
  await step('package', () => must('serverless package', serverless(folder, env, 'package')))
  const packaged = join(folder, '.serverless')
  const nested = (await readdir(packaged)).filter(file => NESTED.test(file))
  const templates = [join(folder, PACKAGED), ...nested.map(file => join(packaged, file))]

  await step('cfn-lint', () =>
    check(program('cfn-lint'), ['--config-file', 'test/deploy/cfn-lint.yml', '--template', ...templates]),
  )
  await step('checkov', () =>
    check(program('checkov'), ['--config-file', 'test/deploy/checkov.yml', '--file', ...templates]),
  )
  const texts = await Promise.all(templates.map(file => readFile(file, 'utf8')))
  await step('rights of a deployer', async () => none(await deployerProblems(texts)))
  await step('quotas', async () => none(texts.flatMap(exceeded)))
}

/** Checks the zips of a package. */
const checkZips = async (folder: string, program: (name: string) => string) => {
  const packaged = join(folder, '.serverless')
  const allowed = v.parse(budgets, await readFile(join(ROOT, 'deploy/budget.json'), 'utf8'))
  await step('only its own code in each zip', async () => {
    for (const name of Object.keys(allowed)) {
      const zip = join(packaged, `${name}.zip`)
      const { stdout } = await run(program('python'), ['-m', 'zipfile', '--list', zip])
      none(foreignFiles(name, stdout))
    }
  })
  await step('sizes of the zips', async () => none(await overBudget(packaged, allowed)))
}

const main = async (): Promise<number> => {
  const program = await pythonTools('checks', 'test/deploy/template-requirements.txt')
  if (program === undefined) {
    process.stdout.write(`${skipped('checking the template')}\n`)
    return 0
  }
  const folder = await mkdtemp(join(tmpdir(), 'order-relay-template-'))
  const project = join(folder, 'project')
  try {
    await copyProject(project)
    await checkTemplate(project, program)
    await checkZips(project, program)
    process.stdout.write('\n300 stores with SQS feeds and 100 with HTTP feeds\n')
    await writeFile(join(project, 'stores.yml'), manyStores())
    await checkTemplate(project, program)
    return 0
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    process.stderr.write(`\nFailed at "${error.step}":\n${error.message}\n`)
    return 1
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main()
