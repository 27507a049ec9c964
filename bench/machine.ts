import { readFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import * as v from 'valibot'
import { runtimeClient } from './runtime/ric.ts'

const manifest = v.object({ version: v.string() })

const version = (folder: string): string =>
  v.parse(manifest, JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))).version

/** Where and with what the benchmark runs, without the name of the machine. */
export const machine = () => ({
  date: new Date().toISOString().slice(0, 10),
  processor: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB`,
  system: `${process.platform} ${process.arch}`,
  /** Processes that wanted a processor; more of them than processors means that the machine was shared. */
  load: loadavg().map(value => Number(value.toFixed(1))),
  node: process.versions.node,
  runtimeClient:
    runtimeClient() === undefined
      ? 'bench/runtime/minimal-loop.mjs'
      : `aws-lambda-ric ${version('bench/runtime/node_modules/aws-lambda-ric')}`,
  sdk: version('node_modules/@aws-sdk/client-sqs'),
  peers: Object.fromEntries(
    ['@aws-sdk/client-sqs', '@aws-lambda-powertools/idempotency', 'zod'].map(name => [
      name,
      version(`bench/peers/node_modules/${name}`),
    ]),
  ),
})
