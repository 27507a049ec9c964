import { isDeepStrictEqual } from 'node:util'
import { type DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import { changesOf, livesOf, orderOf, type Plan, resultOf } from './plan.ts'

const SHOWN = 20

const itemsOf = async function* (client: DynamoDBClient, TableName: string) {
  for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true }))
    yield* Items
}

const json = v.pipe(v.string(), v.parseJson(), v.looseObject({ sent_at: v.number() }))

const withoutTime = (text: string | undefined): unknown => {
  const read = v.safeParse(json, text)
  if (!read.success) return undefined
  const { sent_at: _, ...result } = read.output
  return result
}

/** What is wrong with the tables when all has been told: orders table and record of deliveries. */
export const complaintsOfTables = async (client: DynamoDBClient, plan: Plan): Promise<readonly string[]> => {
  const complaints: string[] = []
  const lives = livesOf(plan)
  const seen = new Uint8Array(lives.length)
  for await (const { source, external_id, version, result, doubt, intents } of itemsOf(client, 'orders')) {
    const order = orderOf(external_id?.S ?? '')
    const length = lives[order]
    if (length === undefined) {
      complaints.push(`The orders table has "${external_id?.S}" of ${source?.S}, which is not in the plan`)
      continue
    }
    seen[order] = (seen[order] ?? 0) + 1
    const last = resultOf(plan, order, length - 1)
    const agrees =
      source?.S === last.source &&
      Number(version?.N) === length &&
      doubt === undefined &&
      intents?.S === '{}' &&
      isDeepStrictEqual(withoutTime(result?.S), last)
    if (!agrees) complaints.push(`The orders table has order ${order} as ${result?.S}, version ${version?.N}`)
  }
  const amiss = seen.filter(times => times !== 1).length
  if (amiss > 0) complaints.push(`${amiss} orders are not in the orders table exactly once`)

  let recorded = 0
  for await (const _ of itemsOf(client, 'deliveries')) recorded++
  if (recorded !== changesOf(plan)) {
    complaints.push(`The record of deliveries holds ${recorded} instead of ${changesOf(plan)}`)
  }
  return complaints.length > SHOWN
    ? [...complaints.slice(0, SHOWN), `and ${complaints.length - SHOWN} more`]
    : complaints
}
