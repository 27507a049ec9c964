import * as v from 'valibot'
import { alter } from './alter.ts'
import { DOMAIN, type Package } from './packaged.ts'
import { filledPolicy } from './permissions/policies.ts'
import {
  ACCOUNT,
  type PolicyDocument,
  policyDocument,
  REGION,
  type Resolved,
  resolved,
  STAGE,
} from './resolve.ts'
import type { Template } from './template-schema.ts'
import { recordUse } from './use.ts'
import { recordOperator } from './use-of-tables.ts'

/** A packaged deployment, how the code uses it, and the policies of docs/iam for its stack. */
export type Checked = Package & {
  resolved: Resolved
  recording: Awaited<ReturnType<typeof record>>
  policies: Readonly<Record<'deployer' | 'operator' | 'boundary', PolicyDocument>>
}

/** How the functions and the operator's commands use a template. */
const record = async (template: Template, resources: Resolved) => {
  const recording = await recordUse(resources)
  return { ...recording, ...(await recordOperator(template, recording.tables)) }
}

const policyFor = (name: string): PolicyDocument =>
  v.parse(policyDocument, JSON.parse(filledPolicy(name, { REGION, ACCOUNT, STAGE, ...DOMAIN })))

export const checkedOf = async (packaged: Package): Promise<Checked> => {
  const resources = resolved(packaged.template)
  // A deployer who uses every setting has both policies.
  const deployer = ['deployer', 'deployer-backup'].flatMap(name => policyFor(name).Statement)
  return {
    ...packaged,
    resolved: resources,
    recording: await record(packaged.template, resources),
    policies: {
      deployer: { Statement: deployer },
      operator: policyFor('operator'),
      boundary: policyFor('boundary'),
    },
  }
}

/** Replaces text in one resource or policy. */
export const altered = (before: Checked, part: string, from: string, to: string): Checked => {
  const { policies, template } = before
  if (part in policies)
    return { ...before, policies: alter(policies, part as keyof typeof policies, from, to) }
  const changed = { ...template, Resources: alter(template.Resources, part, from, to) }
  return { ...before, template: changed, resolved: resolved(changed) }
}
