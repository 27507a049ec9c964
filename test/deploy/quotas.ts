import * as v from 'valibot'

/** A function of CloudFormation in place of a value. */
const resolvable = v.pipe(
  v.record(v.string(), v.unknown()),
  v.check(value => Object.keys(value).some(key => /^(Ref|Fn::\w+)$/.test(key))),
)
const RESOLVED = 'x'.repeat(140)

/** The length as JSON once CloudFormation has resolved its functions, most of them to ARNs. */
const length = (value: unknown): number =>
  JSON.stringify(value, (_key, inner) => (v.is(resolvable, inner) ? RESOLVED : inner)).length

/** The characters of a text, the items of a list, the entries of an object; a number is its own size. */
const size = (value: unknown): number => {
  if (typeof value === 'number') return value
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  return Object.keys(value ?? {}).length
}

const longest = (value: unknown) => Math.max(0, ...Object.values(value ?? {}).map(length))

type Quota = readonly [name: string, allowed: number, measure: (value: unknown) => number]

/** The quotas that grow with the stores and that AWS does not raise, by the property of a template that they limit. */
const QUOTAS: Readonly<Record<string, readonly Quota[]>> = {
  Resources: [
    ['resources of a stack', 500, size],
    ['characters of a logical id', 255, resources => Math.max(...Object.keys(resources ?? {}).map(size))],
  ],
  Outputs: [['outputs of a stack', 200, size]],
  Parameters: [
    ['parameters of a stack', 200, size],
    ['bytes of a parameter', 4096, longest],
  ],
  Policies: [['characters of the policies of a role', 10_240, length]],
  PolicyDocument: [['bytes of the policy of a queue', 8192, length]],
  sourceQueueArns: [['queues that a dead-letter queue names', 10, size]],
  QueueName: [['characters of the name of a queue', 80, size]],
  Variables: [['bytes of the environment of a function', 4096, length]],
  MaximumConcurrency: [['executions of an event source', 1000, size]],
  AlarmName: [['characters of the name of an alarm', 255, size]],
  AlarmDescription: [['characters of the description of an alarm', 1024, size]],
  widgets: [['widgets of a dashboard', 500, size]],
  metrics: [['metrics of a widget', 500, size]],
  alarms: [['alarms of a widget', 100, size]],
}

const TEMPLATE_BYTES = 1_000_000

/** The quotas of CloudFormation, IAM, SQS, Lambda and CloudWatch that a template exceeds. */
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
    for (const [name, allowed, measure] of QUOTAS[key] ?? []) limit(name, allowed, measure(value))
    return value
  }
  const template = JSON.stringify(JSON.parse(text, visit))
  limit('metrics of a dashboard', 2500, metrics)
  limit('bytes of a template', TEMPLATE_BYTES, Buffer.byteLength(template))
  // CloudFormation deploys other characters, but returns question marks when it is asked for the template.
  limit('characters beyond ASCII in a template', 0, template.replace(/[\0-\x7F]/g, '').length)
  return found
}
