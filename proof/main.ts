import './quiet.ts'
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { BUGS } from './crash/bugs.ts'
import { complaintsOf } from './crash/complaints.ts'
import { PATTERNS } from './crash/explore.ts'
import { faultsFrom } from './crash/faults.ts'
import { LIVES } from './crash/lives.ts'
import { caseAgainst, crashMatrix } from './crash/matrix.ts'
import { document, holes, type Planted, told } from './crash/report.ts'
import { live } from './crash/world.ts'

const DOCUMENT = new URL('../docs/proof.md', import.meta.url)

const USAGE = `Kills the relay at every await and says what became of it; writes docs/proof.md.

  --check          write nothing, and fail when docs/proof.md is not what would be written
  --depth N        how many faults strike in one run (default: 1; 2 takes hours)
  --life TEXT      only the lives whose names begin so
  --pattern TEXT   only the patterns whose names begin so
  --fault FAULTS   one run, as in a complaint: "7:late" or "7:late,12:lost", and every call that it made
  --help           this text

With --depth, --life or --pattern nothing is written.
`

const say = (line: string) => process.stdout.write(`${line}\n`)

const progress = (runs: number) => {
  if (process.stderr.isTTY && runs % 100 === 0) process.stderr.write(`\r${runs} runs `)
}

const beginning = <Named extends { name: string }>(all: readonly Named[], text: string, what: string) => {
  const found = all.filter(({ name }) => name.startsWith(text))
  if (found.length === 0) throw new Error(`Cannot find a ${what} whose name begins with "${text}"`)
  return found
}

type Chosen = { lives: typeof LIVES; patterns: typeof PATTERNS }

/** One run again, call by call. */
const replay = async ({ lives, patterns }: Chosen, text: string): Promise<string[]> => {
  const [life] = lives
  const [pattern] = patterns
  if (life === undefined || pattern === undefined) return []
  const faults = faultsFrom(text)
  const ran = await live(life, pattern, faults, {})
  say(`${life.name}; ${pattern.name}`)
  for (const [at, place] of ran.visits.entries()) {
    const mode = faults.find(fault => fault.at === at)?.mode
    say(`${String(at).padStart(4)}  ${place}${mode === undefined ? '' : `   ← ${mode}`}`)
  }
  return complaintsOf(ran, life, faults.length)
}

const plantedBugs = async (): Promise<Planted[]> => {
  const planted: Planted[] = []
  for (const [bug, change] of Object.entries(BUGS)) planted.push({ bug, caught: await caseAgainst(change) })
  return planted
}

const wholeProof = async (check: boolean): Promise<string[]> => {
  const matrix = await crashMatrix({}, progress)
  const planted = await plantedBugs()
  const text = document(matrix, planted)
  say(text)
  if (!check) await writeFile(DOCUMENT, text)
  const outdated = (await readFile(DOCUMENT, 'utf8').catch(() => '')) !== text
  return [
    ...matrix.failures.map(told),
    ...holes(matrix).map(hole => `Nothing was struck at: ${hole}`),
    ...planted.filter(({ caught }) => caught === undefined).map(({ bug }) => `Not caught: ${bug}`),
    ...(outdated ? ['docs/proof.md is outdated: run npm run proof'] : []),
  ]
}

const partOfIt = async (chosen: Chosen, depth: number): Promise<string[]> => {
  const { total, failures } = await crashMatrix({ ...chosen, depth }, progress)
  say(`${total.runs} runs, ${total.broken} broke a promise`)
  return failures.map(told)
}

const main = async (): Promise<string[]> => {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean', default: false },
      depth: { type: 'string' },
      life: { type: 'string' },
      pattern: { type: 'string' },
      fault: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  const { check, depth, life, pattern, fault, help } = values
  if (help) {
    say(USAGE)
    return []
  }
  const chosen = {
    lives: beginning(LIVES, life ?? '', 'life'),
    patterns: beginning(PATTERNS, pattern ?? '', 'pattern'),
  }
  if (fault !== undefined) return replay(chosen, fault)
  const isWhole = depth === undefined && life === undefined && pattern === undefined
  return isWhole ? wholeProof(check) : partOfIt(chosen, Number(depth ?? 1))
}

const problems = await main()
for (const problem of problems) say(`✗ ${problem}`)
process.exitCode = problems.length === 0 ? 0 : 1
