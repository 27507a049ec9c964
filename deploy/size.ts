// Packages the functions as a deployment does and holds each zip against its budget: npm run size
//
// What a zip holds is loaded at every cold start, so it grows by decision and not by accident. A zip may have
// at most the bytes of deploy/budget.json.

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
    const verdict =
      size > limit
        ? `over its budget of ${limit}: make it smaller, or raise deploy/budget.json`
        : `of ${limit}`
    console.log(`${name.padEnd(10)} ${String(size).padStart(6)} bytes ${verdict}`)
    if (size > limit) process.exitCode = 1
  }
} finally {
  await rm(folder, { recursive: true })
}
