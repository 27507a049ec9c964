// Measures the relay against what one would build instead: npm run bench
//
//   npm run bench                   every part; writes docs/performance.md
//   npm run bench -- coldstart cpu  these parts only; writes nothing
//   npm run bench -- install        AWS's runtime client for the cold start (needs cmake and g++; some minutes)

import { createContext, type Part } from './context.ts'
import { writePage } from './page.ts'
import { calls } from './parts/calls.ts'
import { coldstart } from './parts/coldstart.ts'
import { cost } from './parts/cost.ts'
import { cpu } from './parts/cpu.ts'
import { loading } from './parts/loading.ts'
import { sandbox } from './parts/sandbox.ts'
import { scaling } from './parts/scaling.ts'
import { size } from './parts/size.ts'
import { warm } from './parts/warm.ts'
import { worker } from './parts/worker.ts'
import { plain, type Section, targetsTable } from './report.ts'
import { installRuntimeClient } from './runtime/ric.ts'

const PARTS: Readonly<Record<string, Part>> = {
  coldstart,
  loading,
  cpu,
  calls,
  warm,
  worker,
  sandbox,
  cost,
  scaling,
  size,
}

const wanted = process.argv.slice(2)
const unknown = wanted.find(name => name !== 'install' && !(name in PARTS))
if (unknown !== undefined) {
  console.error(`Cannot run "${unknown}": there are ${Object.keys(PARTS).join(', ')}, and install`)
  process.exit(2)
}

const run = async () => {
  const sections: Section[] = []
  const context = await createContext()
  try {
    for (const [name, part] of Object.entries(PARTS)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue
      const started = performance.now()
      const section = await part(context)
      sections.push(section)
      console.log(`\n${section.title} (${((performance.now() - started) / 1000).toFixed(0)} s)\n`)
      for (const table of section.tables) console.log(`${plain(table)}\n`)
    }
  } finally {
    await context.close()
  }
  const targets = sections.flatMap(section => section.targets)
  if (targets.length > 0) console.log(`${plain(targetsTable(targets))}\n`)
  if (wanted.length === 0) await writePage(sections)
  return targets.every(({ met }) => met)
}

const install = () =>
  installRuntimeClient().catch(error => {
    console.error(error.message)
    process.exitCode = 1
  })

if (wanted.includes('install')) await install()
else process.exitCode = (await run()) ? 0 : 1
