import { invalid } from '@order-relay/lib/protocol/errors.ts'
import { parseJson } from '@order-relay/lib/protocol/json.ts'
import { Refusal } from '@order-relay/web/http.ts'
import * as v from 'valibot'

/** All problems that the service would find in the body of a request. Its response names only the first one. */
export const issuesOf = (schema: v.GenericSchema, body: unknown): Refusal[] => {
  const { issues = [] } = v.safeParse(schema, parseJson(JSON.stringify(body)))
  return issues.map(issue => {
    const { message, field } = invalid([issue]).error
    return new Refusal(message, { field })
  })
}
