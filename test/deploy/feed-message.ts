import * as v from 'valibot'

/** The text of a message to a store, as far as the proof looks at it (promise P9). */
export const feedMessage = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    event: v.string(),
    version: v.number(),
    delivery: v.string(),
    data: v.object({ source: v.string(), external_id: v.string(), status: v.string() }),
  }),
)
