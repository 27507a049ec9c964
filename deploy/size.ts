// Bundles the functions as a deployment does and compares each zip with its budget: npm run size
//
// Every byte of a zip is loaded at each cold start. To accept a larger zip, raise its budget in deploy/budget.json.

import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import budget from './budget.json' with { type: 'json' }
import { bundle, zipped } from './bundle.ts'

const limits: Readonly<Record<string, number>> = budget

for (const file of readdirSync('functions')) {
  const name = basename(file, '.ts')
  const source = `functions/${name}`
  const size = zipped(source, (await bundle(source)).code).length
  const limit = limits[name] ?? 0
  const verdict = size > limit ? `exceeds its budget of ${limit}` : `of ${limit}`
  console.log(`${name.padEnd(10)} ${String(size).padStart(6)} bytes ${verdict}`)
  if (size > limit) process.exitCode = 1
}
