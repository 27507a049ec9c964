import * as v from 'valibot'

const resource = v.looseObject({ Type: v.string(), Properties: v.optional(v.looseObject({}), {}) })
/** A template as CloudFormation receives it. */
export const templateSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    Resources: v.record(v.string(), resource),
    Outputs: v.optional(v.record(v.string(), v.unknown()), {}),
  }),
)

export type Template = v.InferOutput<typeof templateSchema>
