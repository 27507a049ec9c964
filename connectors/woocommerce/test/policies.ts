import * as v from 'valibot'
import { deployerRights, simulatorAgrees } from '../../../test/deploy/template/permissions/deployer.ts'
import { covers, filledPolicy, grants } from '../../../test/deploy/template/permissions/policies.ts'
import {
  ACCOUNT,
  ofType,
  type PolicyDocument,
  policyDocument,
  REGION,
  resolved,
  STAGE,
} from '../../../test/deploy/template/resolve.ts'
import type { Template } from '../../../test/deploy/template/template-schema.ts'
import type { AwsCall } from '../../../test/deploy/template/use.ts'
import { namesOf } from '../lib/names.ts'

const { stack } = namesOf(STAGE)

export type Policies = Readonly<Record<'deployer' | 'boundary', PolicyDocument>>

const policyFor = (name: string): PolicyDocument =>
  v.parse(policyDocument, JSON.parse(filledPolicy(`woocommerce-${name}`, { REGION, ACCOUNT, STAGE })))

/** The policies of docs/iam for the connector's stack. */
export const storedPolicies = (): Policies => ({
  deployer: policyFor('deployer'),
  boundary: policyFor('boundary'),
})

/** The permissions boundary of the connector's roles. */
export const BOUNDARY = `arn:aws:iam::${ACCOUNT}:policy/${stack}-boundary`

/** The connector's stack, with the stack itself as a resource. */
const stackOf = ({ Resources, Outputs }: Template) => {
  const Stack = { Type: 'AWS::CloudFormation::Stack', Properties: { StackName: stack } }
  return resolved({ Resources: { ...Resources, Stack }, Outputs }, stack)
}

/** Requests of a deployer on which iam-simulate disagrees with these tests. */
export const disputed = (template: Template, { deployer }: Policies) =>
  simulatorAgrees(stackOf(template), deployer, stack)

/** The missing and the unused permissions of a deployment and of the functions whose roles it creates. */
export async function* policyViolations(
  packaged: Template,
  calls: readonly AwsCall[],
  { deployer, boundary }: Policies,
): AsyncGenerator<string> {
  const template = stackOf(packaged)
  yield* deployerRights(template, deployer, stack)
  for (const { id, Properties } of ofType(template, 'AWS::IAM::Role')) {
    if (Properties.PermissionsBoundary !== BOUNDARY) yield `${id}: has no permissions boundary`
  }
  for (const { action, resource } of calls)
    if (!grants(boundary, action, resource)) yield `the boundary lacks ${action} on ${resource}`
  for (const { Action, Resource } of boundary.Statement) {
    for (const action of Action)
      if (!calls.some(call => call.action === action)) yield `the boundary has ${action}, which nothing needs`
    for (const pattern of Resource)
      if (!calls.some(({ resource }) => covers(pattern, resource)))
        yield `the boundary has ${pattern}, which nothing needs`
  }
}
