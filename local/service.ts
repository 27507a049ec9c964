import * as v from 'valibot'
import { resourcesSchema } from './intrinsics.ts'

const sqsEvent = v.pipe(
  v.union([
    v.pipe(
      v.string(),
      v.transform(arn => ({ arn })),
    ),
    v.looseObject({ arn: v.unknown() }),
  ]),
  v.looseObject({
    arn: v.unknown(),
    batchSize: v.optional(v.number(), 10),
    enabled: v.optional(v.boolean(), true),
    functionResponseType: v.exactOptional(v.string()),
    filterPatterns: v.exactOptional(v.never('is not supported by the local event source')),
  }),
)

const environment = v.record(v.string(), v.unknown())

const httpApi = v.union([v.string(), v.looseObject({ method: v.string(), path: v.string() })])

const lambda = v.looseObject({
  name: v.string(),
  handler: v.string(),
  environment: v.optional(environment, {}),
  events: v.optional(
    v.array(v.looseObject({ sqs: v.exactOptional(sqsEvent), httpApi: v.exactOptional(httpApi) })),
    [],
  ),
})

/** What the local stack reads of a service that osls has loaded and resolved. */
const service = v.looseObject({
  service: v.string(),
  provider: v.looseObject({
    region: v.string(),
    stage: v.string(),
    environment: v.optional(environment, {}),
  }),
  functions: v.optional(v.record(v.string(), lambda), {}),
  resources: v.optional(v.looseObject({ Resources: v.optional(resourcesSchema, {}) }), {}),
})

export type Service = v.InferOutput<typeof service>

/** Reads a loaded service; throws an Error naming the property that the local stack cannot use. */
export const readService = (value: unknown): Service => {
  const result = v.safeParse(service, value)
  if (result.success) return result.output
  const [issue] = result.issues
  throw new Error(`Cannot use serverless.yml: "${v.getDotPath(issue) ?? ''}" ${issue.message}`)
}
