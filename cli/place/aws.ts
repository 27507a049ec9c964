import {
  CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
} from '@aws-sdk/client-cloudformation'
import * as v from 'valibot'
import { cannot } from '../failure.ts'
import type { Deployment } from './deployment.ts'

const lambda = v.looseObject({
  Type: v.literal('AWS::Lambda::Function'),
  Properties: v.looseObject({
    FunctionName: v.string(),
    Timeout: v.optional(v.number(), 3),
    Environment: v.optional(v.looseObject({ Variables: v.optional(v.record(v.string(), v.unknown()), {}) })),
  }),
})
const template = v.pipe(
  v.string(),
  v.parseJson(),
  v.looseObject({ Resources: v.record(v.string(), v.looseObject({ Type: v.string() })) }),
)

const isMissing = (error: unknown) =>
  error instanceof Error && error.name === 'ValidationError' && error.message.includes('does not exist')

/** Reads the outputs and the template of the deployed stack. */
export const awsDeployment = async (region: string, stack: string): Promise<Deployment> => {
  const cloudformation = new CloudFormationClient({ region })
  try {
    const [{ Stacks = [] }, { TemplateBody }] = await Promise.all([
      cloudformation.send(new DescribeStacksCommand({ StackName: stack })),
      cloudformation.send(new GetTemplateCommand({ StackName: stack, TemplateStage: 'Processed' })),
    ])
    const outputs = Object.fromEntries(
      (Stacks[0]?.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
    )
    const { WebhookUrl, ApiUrl } = outputs
    if (WebhookUrl === undefined || ApiUrl === undefined) {
      throw cannot('find the relay', `the stack ${stack} has no output WebhookUrl and ApiUrl`, 'deploy again')
    }
    const functions = Object.values(v.parse(template, TemplateBody).Resources).flatMap(resource =>
      v.is(lambda, resource) ? [v.parse(lambda, resource).Properties] : [],
    )
    const accountingUrl = functions
      .map(({ Environment }) => Environment?.Variables.ACCOUNTING_URL)
      .find(url => typeof url === 'string' && url !== '')
    if (typeof accountingUrl !== 'string') {
      throw cannot(
        'find the accounting service',
        `no function of the stack ${stack} has ACCOUNTING_URL`,
        'deploy with ACCOUNTING_URL set',
      )
    }
    return {
      webhookUrl: WebhookUrl,
      apiUrl: ApiUrl,
      accountingUrl,
      functions: Object.fromEntries(
        functions.map(({ FunctionName, Timeout }) => [
          FunctionName.slice(stack.length + 1),
          { name: FunctionName, timeout: Timeout },
        ]),
      ),
    }
  } catch (error) {
    if (!isMissing(error)) throw error
    throw cannot(
      'find the relay',
      `there is no stack ${stack} in ${region}`,
      'deploy it, or name another with --stage and --region, or use --local',
      error,
    )
  } finally {
    cloudformation.destroy()
  }
}
