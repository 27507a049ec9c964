import { isProbed, PARAMETERS } from '../lib/platform/names.ts'
import type { Store } from '../lib/platform/stores.ts'

/** The parameters of a stack. */
export type Stack = {
  stage: string
  /** Precedes every queue and table name: `order-relay-<stage>-`, empty for the local stack. */
  prefix: string
  stores: readonly Store[]
  /** The orders table without the prefix; a restore creates a new one. @default `orders` */
  ordersTable?: string
}

export type Resource = {
  Type: string
  DependsOn?: readonly string[]
  DeletionPolicy?: 'Delete' | 'Retain'
  UpdateReplacePolicy?: 'Delete' | 'Retain'
  Properties: Record<string, unknown>
}
export type Resources = Record<string, Resource>

/** The default stage and region of deployments and commands. */
export const DEFAULT_STAGE = 'production'
export const DEFAULT_REGION = 'eu-central-1'

/** The stack's name, which is also the dimension `service` of its metrics. */
export const stackName = (stage: string): string => `order-relay-${stage}`

/** The path of the stack's roles: unlike a prefix of their names, no other stage's path begins with it. */
export const rolePath = (stage: string): string => `/order-relay/${stage}/`

/** The Parameter Store path of the stack's secrets. */
export const secretsPath = (stage: string): string => `/order-relay/${stage}`

export const parameterPath = (stage: string, name: keyof typeof PARAMETERS): string =>
  `${secretsPath(stage)}/${PARAMETERS[name]}`

/** The logical ids of the functions, without the suffixes of osls. */
export const FUNCTION_IDS = ['Webhook', 'Api', 'Worker', 'Feeder', 'Reconcile'] as const

/** The functions of a stack, with the probe if stores.yml lists its store. */
export const functionIdsOf = ({ stores }: Pick<Stack, 'stores'>): string[] => [
  ...FUNCTION_IDS,
  ...(isProbed(stores) ? ['Probe'] : []),
]

export const ref = (id: string) => ({ Ref: id })
export const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] })
export const sub = (text: string) => ({ 'Fn::Sub': text })

/** The ARN of a resource of this account and region that the template does not declare or cannot refer to. */
export const arn = (service: string, resource: string) =>
  sub(`arn:\${AWS::Partition}:${service}:\${AWS::Region}:\${AWS::AccountId}:${resource}`)

export const policy = (...Statement: readonly object[]) => ({ Version: '2012-10-17', Statement })
export const allow = (Action: readonly string[], Resource: readonly unknown[]) => ({
  Effect: 'Allow',
  Action,
  Resource,
})
export const denyWithoutTls = (Action: string, Resource: unknown) => ({
  Sid: 'TlsOnly',
  Effect: 'Deny',
  Principal: '*',
  Action,
  Resource,
  Condition: { Bool: { 'aws:SecureTransport': 'false' } },
})

/** A service role with exactly the given statements. */
export const roleOf = (service: string, Description: string, statements: readonly object[]): Resource => ({
  Type: 'AWS::IAM::Role',
  Properties: {
    Description,
    AssumeRolePolicyDocument: policy({
      Effect: 'Allow',
      Principal: { Service: `${service}.amazonaws.com` },
      Action: 'sts:AssumeRole',
    }),
    Policies: [{ PolicyName: 'exact-permissions', PolicyDocument: policy(...statements) }],
  },
})

/** The logical id of a name. */
export const pascal = (name: string) =>
  name.replaceAll(/(?:^|-)(.)/g, (_match, letter) => letter.toUpperCase())

/**
 * A nested stack, which may have another 500 resources. Returns none if there are no resources, since CloudFormation
 * refuses an empty stack. deploy/package.ts uploads the template and replaces it with the URL.
 *
 * @param Parameters values of the outer stack that the resources refer to by name
 */
export const nestedStack = (
  id: string,
  Parameters: Readonly<Record<string, unknown>>,
  resources: readonly (readonly [id: string, resource: Resource])[],
  DependsOn: readonly string[] = [],
): Resources => {
  if (resources.length === 0) return {}
  const TemplateURL = {
    AWSTemplateFormatVersion: '2010-09-09',
    Parameters: Object.fromEntries(Object.keys(Parameters).map(name => [name, { Type: 'String' }])),
    Resources: Object.fromEntries(resources),
  }
  return { [id]: { Type: 'AWS::CloudFormation::Stack', DependsOn, Properties: { Parameters, TemplateURL } } }
}
