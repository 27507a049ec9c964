import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { stringify } from 'yaml'
import { PROBE_SOURCE } from '../../../lib/platform/names.ts'
import type { Store } from '../../../lib/platform/stores.ts'
import { ACCOUNTING_ORIGIN, STORES as CRASH_STORES } from '../../../proofs/crash/functions.ts'
import { copyProject } from '../../support/project.ts'
import { must, serverless } from '../serverless.ts'
import { BACKUP_REGION, BOUNDARY, FUNCTIONS, STAGE } from './resolve.ts'
import { type Template, templateSchema } from './template-schema.ts'

/** The stores of the crash harness and of the probe. */
export const STORES: readonly Store[] = [...CRASH_STORES, { source: PROBE_SOURCE, feed: 'sqs' }]

/** Settings other than the defaults of serverless.yml, so that a setting without effect is noticed. */
export const SETTINGS = {
  requestsPerSecond: 70,
  requestsAtOnce: 130,
  storeRequestsPerSecond: 0.5,
  deleteOrdersAfterDays: 100,
  workerConcurrency: 4,
  bulkConcurrency: 6,
  feederConcurrency: 3,
  endpointConcurrency: 50,
  waitSeconds: 4,
  refusedRetryDays: 6,
  feedAddresses: 'private',
}

/** The recipient of the alarms. */
const ALARM_EMAIL = 'somebody@example.com'

/** The domain and zone of the tests' stack, by their placeholders in docs/iam. */
export const DOMAIN = { DOMAIN: 'relay.example', ZONE: 'zone' }

/** Likewise, with all optional settings. */
export const OPTIONS = {
  callerAddresses: 'logged',
  monthlyBudget: 40,
  backupRegion: BACKUP_REGION,
  shift: 'Linear10PercentEvery2Minutes',
  domain: DOMAIN.DOMAIN,
  certificateArn: 'certificate',
  hostedZoneId: DOMAIN.ZONE,
  permissionsBoundary: BOUNDARY,
  checksPerSecond: 9,
  feedVersionsFrom: 3,
  accountingTimeZone: 'Asia/Kabul',
  feedAttempts: 'all',
}

/** The file of a nested stack: `FeedAlarms-0123456789ab.json`. */
const NESTED = /^(\w+)-[0-9a-f]{12}\.json$/

/**
 * Packages a copy of the project for these stores, as `serverless deploy` does.
 *
 * @param folder the location of the copy
 * @param stores the text of stores.yml. @default the project's
 * @returns the template, followed by those of its nested stacks with their logical ids
 */
export const packageProject = async (
  folder: string,
  { stores, env = {}, options = [] }: { stores?: string; env?: NodeJS.ProcessEnv; options?: string[] },
) => {
  const project = join(folder, 'project')
  await copyProject(project)
  if (stores !== undefined) await writeFile(join(project, 'stores.yml'), stores)
  const environment = { ...process.env, ALARM_EMAIL, ...env }
  await must('serverless package', serverless(project, environment, 'package', ...options))
  const packaged = join(project, '.serverless')
  const nested = (await readdir(packaged)).filter(file => NESTED.test(file))
  return Promise.all(
    ['cloudformation-template-update-stack.json', ...nested].map(async file => {
      const path = join(packaged, file)
      return { path, id: NESTED.exec(file)?.[1] ?? '', text: await readFile(path, 'utf8') }
    }),
  )
}

const nestedStack = v.looseObject({ Parameters: v.record(v.string(), v.unknown()) })

/** The resources of a nested stack, with the values of its parameters from the outer one. */
const inlined = (text: string, properties: unknown): Template['Resources'] => {
  const { Parameters } = v.parse(nestedStack, properties)
  const parameter = v.strictObject({ Ref: v.picklist(Object.keys(Parameters)) })
  const inner = JSON.parse(text, (_key, value) => (v.is(parameter, value) ? Parameters[value.Ref] : value))
  return v.parse(templateSchema, JSON.stringify(inner)).Resources
}

/** The parts of a deployment. */
export type Package = {
  /** Includes the resources of nested stacks. */
  template: Template
  /** The zip of each function. */
  zips: Readonly<Record<string, Uint8Array>>
}

/** Packages the project for the stores of the crash harness. */
export const packagedForCrash = async (folder: string): Promise<Package> => {
  const stores = STORES.map(({ feed, ...store }) => ({
    ...store,
    feed: feed === 'sqs' ? feed : { http: feed.http ?? 'self' },
  }))
  const settings = Object.entries({ ...SETTINGS, ...OPTIONS }).map(
    ([name, value]) => `--param=${name}=${value}`,
  )
  const [whole, ...nested] = await packageProject(folder, {
    stores: stringify({ stores }),
    // The developer's own settings must not reach the snapshot.
    env: { ACCOUNTING_URL: `${ACCOUNTING_ORIGIN}/base` },
    options: ['--stage', STAGE, ...settings],
  })
  const stack = v.parse(templateSchema, whole?.text)
  for (const { id, text } of nested)
    Object.assign(stack.Resources, inlined(text, stack.Resources[id]?.Properties))

  const zipOf = (name: string) => readFile(join(folder, 'project/.serverless', `${name}.zip`))
  const zips = await Promise.all(FUNCTIONS.map(async name => [name, await zipOf(name)] as const))
  return { template: stack, zips: Object.fromEntries(zips) }
}
