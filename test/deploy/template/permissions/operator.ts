import type { Checked } from '../checked.ts'
import { isLast } from '../relations/queues.ts'
import { arn, ofType } from '../resolve.ts'
import { grants } from './policies.ts'

/** An operator may empty the queues without a consumer, invoke the deployed worker, and withdraw requests. */
export function* operator({ resolved: template, recording, policies }: Checked) {
  const policy = policies.operator
  const { worker } = recording.stack.functions
  for (const name of [worker?.name, worker?.target])
    if (!grants(policy, 'lambda:InvokeFunction', arn('lambda', `function:${name}`)))
      yield `docs/iam/operator.json: does not allow to invoke ${name}`
  const withdrawn = recording.withdrawn.toSorted()
  const limits = policy.Statement.map(
    ({ Condition }) => Condition['ForAllValues:StringEquals']?.['dynamodb:Attributes'],
  )
  if (!limits.some(each => String([each].flat().toSorted()) === String(withdrawn)))
    yield `docs/iam/operator.json: does not allow to write exactly ${withdrawn}, which a withdrawal does`
  for (const { name, arn, Properties } of ofType(template, 'AWS::SQS::Queue'))
    for (const action of ['sqs:ReceiveMessage', 'sqs:DeleteMessage'])
      if (grants(policy, action, arn) !== isLast(name, Properties))
        yield `docs/iam/operator.json: ${isLast(name, Properties) ? 'does not allow' : 'allows'} ${action} on ${name}`
}
