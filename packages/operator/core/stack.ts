import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CloudFormation } from '@aws-sdk/client-cloudformation'
import { stackName } from '@order-relay/deploy/cloudformation.ts'
import { VARIABLES } from '@order-relay/lib/platform/environment.ts'
import { WEBHOOK_PATH } from '@order-relay/lib/platform/names.ts'
import { type Ports, urlOf } from '@order-relay/local/settings.ts'
import * as v from 'valibot'
import { parse } from 'yaml'
import { cannot } from './errors.ts'

/** The checkout of this command, independent of the current directory. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The properties of a deployed stack that do not follow from its name. */
export type Stack = {
  webhookUrl: string
  /** Base URL of the stores' API. */
  apiUrl: string
  accountingUrl: string
  ordersTable: string
  /** Which attempts to deliver messages of HTTP feeds are recorded: `all` or `failures`. */
  feedAttempts: string
  /** By name in serverless.yml; `timeout` in seconds; `target` is invoked: the alias, if there is one. */
  functions: Readonly<Record<string, { name: string; target: string; timeout: number }>>
  /** Resources that exist only on AWS. */
  aws?: {
    /** The topic that alarms are sent to. */
    alarmTopic: string
    /** Concurrent executions that are reserved. */
    reserved: number
  }
}

/** The part of serverless.yml that the command reads. */
const serverless = v.looseObject({
  params: v.looseObject({ default: v.looseObject({ ordersTable: v.string(), feedAttempts: v.string() }) }),
  // The value of the probe is a string that refers to a script. The local stack has no probe.
  functions: v.record(
    v.string(),
    v.union([v.string(), v.looseObject({ timeout: v.optional(v.number(), 6) })]),
  ),
})

/** The local stack, as described by serverless.yml and the port variables. */
export const localStack = (ports: Ports): Stack => {
  // Tags such as !Ref, which the parser warns about, are not read.
  const yaml = parse(readFileSync(join(ROOT, 'serverless.yml'), 'utf8'), { logLevel: 'error' })
  const service = v.safeParse(serverless, yaml)
  if (!service.success) throw cannot('read serverless.yml', 'it does not list its functions')
  const { functions, params } = service.output
  return {
    webhookUrl: urlOf(ports.relay) + WEBHOOK_PATH,
    ordersTable: params.default.ordersTable,
    feedAttempts: params.default.feedAttempts,
    apiUrl: urlOf(ports.relay),
    accountingUrl: urlOf(ports.sandbox),
    functions: Object.fromEntries(
      Object.entries(functions).flatMap(([key, described]) => {
        if (typeof described === 'string') return []
        const { timeout } = described
        const name = `${stackName('local')}-${key}`
        return [[key, { name, target: name, timeout }]]
      }),
    ),
  }
}

const lambda = v.looseObject({
  Type: v.literal('AWS::Lambda::Function'),
  Properties: v.looseObject({
    FunctionName: v.string(),
    Timeout: v.optional(v.number(), 3),
    ReservedConcurrentExecutions: v.optional(v.number(), 0),
    Environment: v.optional(v.looseObject({ Variables: v.optional(v.record(v.string(), v.unknown()), {}) })),
  }),
})
const alias = v.object({
  Type: v.literal('AWS::Lambda::Alias'),
  Properties: v.object({ FunctionName: v.object({ Ref: v.string() }), Name: v.string() }),
})
const template = v.pipe(
  v.string(),
  v.parseJson(),
  v.looseObject({ Resources: v.record(v.string(), v.looseObject({ Type: v.string() })) }),
)

const isMissing = (error: unknown) =>
  error instanceof Error && error.name === 'ValidationError' && error.message.includes('does not exist')

/**
 * Reads the outputs and the template of a stack on AWS.
 *
 * @param name such as `order-relay-production`
 */
export const awsStack = async (cloudformation: CloudFormation, name: string): Promise<Stack> => {
  try {
    const [{ Stacks = [] }, { TemplateBody }] = await Promise.all([
      cloudformation.describeStacks({ StackName: name }),
      cloudformation.getTemplate({ StackName: name, TemplateStage: 'Processed' }),
    ])
    const outputs = new Map(Stacks[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]))
    const [webhookUrl, apiUrl] = [outputs.get('WebhookUrl'), outputs.get('ApiUrl')]
    if (webhookUrl === undefined || apiUrl === undefined) {
      const remedy = 'deploy it again'
      throw cannot('find the relay', `the stack ${name} has no outputs WebhookUrl and ApiUrl`, remedy)
    }
    const resources = Object.entries(v.parse(template, TemplateBody).Resources)
    const aliases = new Map(
      resources.flatMap(([, resource]) =>
        v.is(alias, resource) ? [[resource.Properties.FunctionName.Ref, resource.Properties.Name]] : [],
      ),
    )
    const functions = resources.flatMap(([id, resource]) =>
      v.is(lambda, resource) ? [{ ...v.parse(lambda, resource).Properties, alias: aliases.get(id) }] : [],
    )
    const variable = (name: string) =>
      functions
        .map(({ Environment }) => Environment?.Variables[name])
        .find(value => typeof value === 'string' && value !== '')
    const accountingUrl = variable(VARIABLES.accountingUrl)
    if (typeof accountingUrl !== 'string') {
      const found = `no function of the stack ${name} has ACCOUNTING_URL`
      const remedy = 'deploy it with ACCOUNTING_URL set'
      throw cannot('find the accounting service', found, remedy)
    }
    return {
      webhookUrl,
      apiUrl,
      accountingUrl,
      ordersTable: outputs.get('OrdersTableName') ?? '',
      feedAttempts: String(variable(VARIABLES.feedAttempts)),
      aws: {
        alarmTopic: outputs.get('AlarmTopicArn') ?? '',
        reserved: functions.reduce((sum, { ReservedConcurrentExecutions: each }) => sum + each, 0),
      },
      functions: Object.fromEntries(
        functions.map(({ FunctionName, Timeout: timeout, alias }) => [
          FunctionName.slice(name.length + 1),
          { name: FunctionName, target: alias ? `${FunctionName}:${alias}` : FunctionName, timeout },
        ]),
      ),
    }
  } catch (error) {
    if (!isMissing(error)) throw error
    const found = `there is no stack ${name} in ${await cloudformation.config.region()}`
    const remedy = 'deploy it, choose another with --stage and --region, or use --local'
    throw cannot('find the relay', found, remedy, error)
  }
}
