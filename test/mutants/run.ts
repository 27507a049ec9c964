import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { Stryker } from '@stryker-mutator/core'
import { excusesOf, listed, type Mutation, missingFrom, mutation } from './excuses.ts'

/** Folders of `lib/` in which no line may be changed unnoticed, each held by the tests of its own name. */
const FOLDERS = ['protocol', 'webhook', 'orders', 'line']
const LIST = 'docs/mutants.md'
/** It takes seconds for each mutant; what it holds in place must be held by a quick test too, which says it by name. */
const LEFT_OUT = '/test/orders/interleavings\\.test\\.ts$'

const USAGE = `Changes lib/ in every small way and sees whether a test notices; compares with ${LIST}.

  npm run mutate                 all of ${FOLDERS.join(', ')}
  npm run mutate -- line         one folder
  npm run mutate -- line --again without what earlier runs have found (reports/mutants)
`

type Tested = { folder: string; mutants: number; killed: number; seconds: number; survivors: Mutation[] }

/**
 * Takes out of what an earlier run has found everything that no test noticed, so that it is tried again: of code
 * that runs when a module is loaded Stryker does not see that new tests have come.
 */
const forgetSurvivors = (file: string) => {
  if (!existsSync(file)) return
  const report = JSON.parse(readFileSync(file, 'utf8')) as {
    files: Record<string, { mutants: { status: string }[] }>
  }
  for (const tested of Object.values(report.files)) {
    tested.mutants = tested.mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout')
  }
  writeFileSync(file, JSON.stringify(report))
}

const mutate = async (folder: string, again: boolean): Promise<Tested> => {
  const started = Date.now()
  const incrementalFile = `reports/mutants/${folder}.incremental.json`
  forgetSurvivors(incrementalFile)
  const results = await new Stryker({
    mutate: [`lib/${folder}/**/*.ts`, '!**/*.d.ts'],
    testRunner: 'jest',
    plugins: ['@stryker-mutator/jest-runner'],
    testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    coverageAnalysis: 'perTest',
    jest: {
      configFile: 'jest.config.mjs',
      config: {
        testMatch: [`<rootDir>/test/${folder}/**/*.test.ts`],
        testPathIgnorePatterns: [LEFT_OUT],
      },
      enableFindRelatedTests: false,
    },
    ignorePatterns: ['/.*', '/dist', '/reports', '/docs', '/sandbox/panel', '/bench'],
    // Stryker asks TypeScript for an interface that version 7 does not have, unless there is no configuration.
    tsconfigFile: 'none',
    concurrency: 1,
    // A jest that loads native modules again and again keeps every one of them.
    maxTestRunnerReuse: 25,
    incremental: true,
    force: again,
    incrementalFile,
    jsonReporter: { fileName: `reports/mutants/${folder}.json` },
    reporters: ['json', 'progress'],
    tempDirName: '.order-relay/mutants',
    timeoutMS: 10_000,
  }).runMutationTest()
  const survivors = results
    .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    .map(({ fileName, location, replacement }) =>
      mutation(relative('.', fileName), readFileSync(fileName, 'utf8'), location, replacement),
    )
  const seconds = Math.round((Date.now() - started) / 1000)
  return { folder, mutants: results.length, killed: results.length - survivors.length, seconds, survivors }
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { again: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
})
const unknown = positionals.filter(folder => !FOLDERS.includes(folder))
if (values.help || unknown.length > 0) {
  process.stdout.write(USAGE)
  process.exit(values.help ? 0 : 2)
}

const excuses = excusesOf(readFileSync(LIST, 'utf8'))
let complaints = 0
const complain = (what: string, lines: readonly string[]) => {
  if (lines.length === 0) return
  complaints += lines.length
  process.stdout.write(`${what}:\n${lines.join('\n')}\n`)
}

const rows: string[] = []
for (const folder of positionals.length > 0 ? positionals : FOLDERS) {
  const { mutants, killed, seconds, survivors } = await mutate(folder, values.again)
  const excused = excuses.filter(({ file }) => file.startsWith(`lib/${folder}/`))
  complain(
    `Unnoticed by any test, and not in ${LIST}`,
    missingFrom(excused, survivors).map(mutation => `${mutation.file}\n${listed(mutation, '…')}`),
  )
  complain(
    `In ${LIST}, but noticed or no longer there`,
    missingFrom(survivors, excused).map(excuse => `${excuse.file}\n${listed(excuse, excuse.reason)}`),
  )
  rows.push(
    `| \`lib/${folder}\` | ${mutants} | ${killed} | ${survivors.length} | ${excused.length} | ${seconds} s |`,
  )
}
process.stdout.write(
  `| folder | mutants | noticed | unnoticed | excused | took |\n|---|--:|--:|--:|--:|--:|\n`,
)
process.stdout.write(`${rows.join('\n')}\n`)
process.exitCode = complaints === 0 ? 0 : 1
