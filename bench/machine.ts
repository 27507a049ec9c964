import { readFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import * as v from 'valibot'

const version = (name: string): string =>
  v.parse(
    v.looseObject({ version: v.string() }),
    JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')),
  ).version

/** Where and with what the benchmark ran, without anything that names the machine. */
export const machine = () => ({
  date: new Date().toISOString().slice(0, 10),
  processor: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB`,
  system: `${process.platform} ${process.arch}`,
  /** How many processes wanted a processor, on average of the last minutes: above the count of processors, it was shared. */
  load: loadavg()
    .map(value => value.toFixed(1))
    .join(', '),
  versions: [
    `Node ${process.versions.node}`,
    ...[
      'esbuild',
      '@middy/core',
      'valibot',
      '@aws-sdk/client-dynamodb',
      '@aws-sdk/client-sqs',
      '@aws-lambda-powertools/idempotency',
      'zod',
      'dynalite',
      'fauxqs',
    ].map(name => `${name} ${version(name)}`),
  ],
})
