// Packages the functions as a deployment does and compares each zip with its budget: npm run size
//
// Every byte of a zip is loaded at each cold start, so a zip grows only by decision: raise deploy/budget.json.

import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import * as v from 'valibot'

const budgets = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.number()))

const folder = await mkdtemp(join(tmpdir(), 'order-relay-size-'))
try {
  const limits = v.parse(budgets, await readFile('deploy/budget.json', 'utf8'))
  await promisify(execFile)('npx', ['serverless', 'package', '--stage', 'local', '--package', folder])
  for (const file of (await readdir(folder)).filter(name => name.endsWith('.zip'))) {
    const name = basename(file, '.zip')
    const limit = limits[name] ?? 0
    const { size } = await stat(join(folder, file))
    const verdict = size > limit ? `exceeds its budget of ${limit}` : `of ${limit}`
    console.log(`${name.padEnd(10)} ${String(size).padStart(6)} bytes ${verdict}`)
    if (size > limit) process.exitCode = 1
  }
} finally {
  await rm(folder, { recursive: true })
}
