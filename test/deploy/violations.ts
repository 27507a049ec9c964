import * as v from 'valibot'
import { deployerViolations } from './deployer.ts'
import { edgeViolations } from './edges.ts'
import { effectViolations } from './effects.ts'
import { givenViolations } from './given.ts'
import { metricViolations, queryViolations } from './monitoring.ts'
import { DOMAIN, type Package } from './packaged.ts'
import { filledPolicy, grants, resourcePolicyViolations } from './policies.ts'
import { referenceViolations } from './references.ts'
import {
  ACCOUNT,
  arn,
  ofType,
  type PolicyDocument,
  policyDocument,
  REGION,
  type Resolved,
  resolved,
  STAGE,
} from './resolve.ts'
import { rightsViolations } from './rights.ts'
import { functionViolations, isLast, queueViolations, typeViolations } from './rules.ts'
import { recordOperator, tableViolations } from './tables.ts'
import { recordUse } from './use.ts'
import { wiringViolations } from './wiring.ts'

/** A policy of docs/iam for the tests' stack. */
export const policyFor = (name: keyof Checked['policies'] | 'deployer-backup'): PolicyDocument =>
  v.parse(policyDocument, JSON.parse(filledPolicy(name, { REGION, ACCOUNT, STAGE, ...DOMAIN })))

/** The policies of a deployer with every setting. */
export const deployerPolicy = (): PolicyDocument => ({
  Statement: [...policyFor('deployer').Statement, ...policyFor('deployer-backup').Statement],
})

/** How the functions and the operator's commands use a packaged template. */
export const record = async ({ template }: Package) => {
  const recording = await recordUse(resolved(template))
  return { ...recording, ...(await recordOperator(template, recording.tables)) }
}

export type Checked = Package & {
  recording: Awaited<ReturnType<typeof record>>
  policies: Readonly<Record<'deployer' | 'operator' | 'boundary', PolicyDocument>>
}

/** The operator may empty the queues without a consumer, invoke the deployed worker, and withdraw requests. */
function* operatorViolations(template: Resolved, { recording, policies: { operator } }: Checked) {
  const { worker } = recording.stack.functions
  for (const name of [worker?.name, worker?.target])
    if (!grants(operator, 'lambda:InvokeFunction', arn('lambda', `function:${name}`)))
      yield `the operator may not invoke ${name}`
  const limits = operator.Statement.map(
    ({ Condition }) => Condition['ForAllValues:StringEquals']?.['dynamodb:Attributes'],
  )
  if (!limits.some(each => String([each].flat().toSorted()) === String(recording.withdrawn.toSorted())))
    yield `the operator may not write exactly ${recording.withdrawn}, which a withdrawal does`
  for (const { name, arn, Properties } of ofType(template, 'AWS::SQS::Queue')) {
    const mayEmpty = isLast(name, Properties)
    for (const action of ['sqs:ReceiveMessage', 'sqs:DeleteMessage'])
      if (grants(operator, action, arn) !== mayEmpty)
        yield `the operator may${mayEmpty ? ' not' : ''} ${action} on ${name}`
  }
}

/** The relations that a deployment violates. */
export async function* violations(checked: Checked) {
  const { recording, policies, zips } = checked
  const template = resolved(checked.template)
  const calls = Object.values(recording.uses).flatMap(({ calls }) => calls)
  const { operator, boundary } = policies
  yield* referenceViolations(template, calls, { operator, boundary })
  yield* resourcePolicyViolations(template)
  yield* typeViolations(template)
  yield* queueViolations(template, recording.uses)
  yield* functionViolations(template, recording.uses, zips)
  yield* edgeViolations(template, recording.uses)
  yield* effectViolations(template)
  yield* givenViolations(template)
  yield* wiringViolations(template, checked.template)
  yield* tableViolations(template, recording.tables)
  yield* metricViolations(template, recording.counted)
  yield* queryViolations(template, recording.lines)
  yield* await deployerViolations(template, policies.deployer)
  yield* operatorViolations(template, checked)
  yield* rightsViolations(template, recording.uses, boundary)
}
