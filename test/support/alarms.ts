import { createRequire } from 'node:module'
import * as v from 'valibot'

const alarm = v.looseObject({
  page: v.string(),
  rings: v.object({
    Namespace: v.string(),
    MetricName: v.string(),
    Dimensions: v.array(v.object({ Name: v.string(), Value: v.unknown() })),
    Period: v.number(),
    Statistic: v.picklist(['Sum', 'Maximum']),
    EvaluationPeriods: v.literal(1),
    ComparisonOperator: v.picklist(['GreaterThanThreshold', 'GreaterThanOrEqualToThreshold']),
    Threshold: v.number(),
  }),
})

export type Alarm = v.InferOutput<typeof alarm>
type For = (service: string, feeds: readonly object[]) => unknown
const { alarmsFor }: { alarmsFor: For } = createRequire(import.meta.url)('../../deploy/alarms.cjs')

/** The alarms that the template makes for a stack and the feeds in it. */
export const alarmsOf: (...stack: Parameters<For>) => Alarm[] = (...stack) =>
  Object.values(v.parse(v.record(v.string(), alarm), alarmsFor(...stack)))
