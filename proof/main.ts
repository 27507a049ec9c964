import './quiet.ts'
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { BUGS } from './crash/bugs.ts'
import { caseAgainst, crashMatrix } from './crash/matrix.ts'
import { document, holes, type Planted, told } from './crash/report.ts'

const DOCUMENT = new URL('../docs/proof.md', import.meta.url)

const USAGE = `Kills the relay at every await and says what became of it; writes docs/proof.md.

  --check     write nothing, and fail when docs/proof.md is not what would be written
  --depth N   how many faults strike in one run (default: 1; 2 takes hours); above 1 nothing is written
  --help      this text
`

const say = (line: string) => process.stdout.write(`${line}\n`)

const progress = (runs: number) => {
  if (process.stderr.isTTY && runs % 100 === 0) process.stderr.write(`\r${runs} runs `)
}

const plantedBugs = async (): Promise<Planted[]> => {
  const planted: Planted[] = []
  for (const [bug, change] of Object.entries(BUGS)) planted.push({ bug, caught: await caseAgainst(change) })
  return planted
}

const outdated = async (text: string) => (await readFile(DOCUMENT, 'utf8').catch(() => '')) !== text

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean', default: false },
      depth: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    say(USAGE)
    return 0
  }
  const depth = Number(values.depth)
  const matrix = await crashMatrix({ depth }, progress)
  const planted = await plantedBugs()
  const text = document(matrix, planted)
  say(text)

  const problems = [
    ...matrix.failures.map(told),
    ...holes(matrix).map(hole => `Nothing was struck at: ${hole}`),
    ...planted.filter(({ caught }) => caught === undefined).map(({ bug }) => `Not caught: ${bug}`),
  ]
  if (values.check && (await outdated(text))) problems.push('docs/proof.md is outdated: run npm run proof')
  if (!values.check && depth === 1) await writeFile(DOCUMENT, text)
  for (const problem of problems) say(`✗ ${problem}`)
  return problems.length === 0 ? 0 : 1
}

process.exitCode = await main()
