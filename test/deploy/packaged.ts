import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { stringify } from 'yaml'
import { ACCOUNTING_ORIGIN, STORES } from '../crash/functions.ts'
import { change, copyProject, must, serverless } from './project.ts'

const resource = v.looseObject({ Type: v.string(), Properties: v.optional(v.looseObject({}), {}) })
const template = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    Resources: v.record(v.string(), resource),
    Outputs: v.optional(v.record(v.string(), v.unknown()), {}),
  }),
)
export type Template = v.InferOutput<typeof template>

/** Other settings than the defaults of serverless.yml, so that one without effect is noticed. */
export const SETTINGS = {
  requestsPerSecond: 70,
  requestsAtOnce: 130,
  workerConcurrency: 4,
  bulkConcurrency: 6,
  feederConcurrency: 3,
  endpointConcurrency: 50,
}

/** Likewise, with everything that is optional. */
const OPTIONS = {
  shift: 'Linear10PercentEvery2Minutes',
  domain: 'relay.example',
  certificateArn: 'certificate',
  hostedZoneId: 'zone',
}

/** The file of a nested stack: `FeedAlarms-0123456789ab.json`. */
export const NESTED = /^(\w+)-[0-9a-f]{12}\.json$/

const nestedStack = v.looseObject({ Parameters: v.record(v.string(), v.unknown()) })

/** The resources of a nested stack, with what the outer one passes to it in place of its parameters. */
const inlined = (text: string, properties: unknown): Template['Resources'] => {
  const { Parameters } = v.parse(nestedStack, properties)
  const parameter = v.strictObject({ Ref: v.picklist(Object.keys(Parameters)) })
  const inner = JSON.parse(text, (_key, value) => (v.is(parameter, value) ? Parameters[value.Ref] : value))
  return v.parse(template, JSON.stringify(inner)).Resources
}

/**
 * The template that `serverless deploy` would deploy for the stores of the crash harness, with the names that its
 * models of AWS have, and with the resources of nested stacks.
 */
export const packagedTemplate = async (): Promise<Template> => {
  const folder = await mkdtemp(join(tmpdir(), 'order-relay-template-'))
  try {
    const project = join(folder, 'project')
    await copyProject(project)
    const stores = STORES.map(({ feed, ...store }) => ({
      ...store,
      feed: feed === 'sqs' ? feed : { http: feed.http },
    }))
    await writeFile(join(project, 'stores.yml'), stringify({ stores }))
    const env = {
      ...process.env,
      ACCOUNTING_URL: `${ACCOUNTING_ORIGIN}/base`,
      ALARM_EMAIL: 'somebody@example.com',
    }
    // As in the stage `local`; `--param` takes no empty value.
    await change(project, 'serverless.yml', 'prefix: order-relay-', 'prefix: "" # ')
    const settings = Object.entries({ ...SETTINGS, ...OPTIONS }).map(
      ([name, value]) => `--param=${name}=${value}`,
    )
    await must('serverless package', serverless(project, env, 'package', '--stage', 'crash', ...settings))
    const packaged = join(project, '.serverless')
    const read = (file: string) => readFile(join(packaged, file), 'utf8')
    const stack = v.parse(template, await read('cloudformation-template-update-stack.json'))
    for (const file of await readdir(packaged)) {
      const [, id = ''] = NESTED.exec(file) ?? []
      if (id !== '')
        Object.assign(stack.Resources, inlined(await read(file), stack.Resources[id]?.Properties))
    }
    return stack
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
