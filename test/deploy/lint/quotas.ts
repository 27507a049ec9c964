import * as v from 'valibot'

/** A CloudFormation function in place of a value. */
const resolvable = v.pipe(
  v.record(v.string(), v.unknown()),
  v.check(value => Object.keys(value).some(key => /^(Ref|Fn::\w+)$/.test(key))),
)
const RESOLVED = 'x'.repeat(140)

/** The length as JSON once CloudFormation has resolved its functions, most of them to ARNs. */
const length = (value: unknown): number =>
  JSON.stringify(value, (_key, inner) => (v.is(resolvable, inner) ? RESOLVED : inner)).length

/** The characters of a text, the items of a list. */
const size = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value) ? value.length : 0

type Quota = readonly [name: string, allowed: number, measure: (value: unknown) => number]

/** Fixed quotas that many stores may reach, by the property that they limit. */
const QUOTAS: Readonly<Record<string, Quota>> = {
  Policies: ['characters of the policies of a role', 10_240, length],
  PolicyDocument: ['bytes of the policy of a queue', 8192, length],
  sourceQueueArns: ['queues that a dead-letter queue names', 10, size],
  QueueName: ['characters of the name of a queue', 80, size],
  widgets: ['widgets of a dashboard', 500, size],
  metrics: ['metrics of a widget', 500, size],
  alarms: ['alarms of a widget', 100, size],
}

/** The quotas of CloudFormation, IAM, SQS and CloudWatch that a template exceeds. */
export const exceeded = (text: string): string[] => {
  const found: string[] = []
  const limit = (name: string, allowed: number, measured: number) => {
    if (measured > allowed) found.push(`${name}: ${measured}, and AWS allows ${allowed}`)
  }
  let metrics = 0
  const visit = (key: string, value: unknown): unknown => {
    if (v.is(resolvable, value)) {
      if (key === 'DashboardBody') JSON.parse(String(value['Fn::Sub']), visit)
      return value
    }
    if (key === 'metrics') metrics += size(value)
    const quota = QUOTAS[key]
    if (quota !== undefined) limit(quota[0], quota[1], quota[2](value))
    return value
  }
  const template = JSON.stringify(JSON.parse(text, visit))
  limit('metrics of a dashboard', 2500, metrics)
  limit('resources of a template', 500, Object.keys(JSON.parse(text).Resources ?? {}).length)
  // CloudFormation deploys other characters, but returns them as question marks in GetTemplate.
  limit('characters beyond ASCII in a template', 0, template.replace(/[\0-\x7F]/g, '').length)
  return found
}
