import { paginateScan } from '@aws-sdk/client-dynamodb'
import type { Place } from '../place/place.ts'

/** A delivery of the table. */
export type Recorded = { delivery: string; source: string; external_id: string; status: string; at: Date }

/** Reads through the table of deliveries, from a time on. */
export async function* deliveriesOf(place: Place, since: Date): AsyncGenerator<Recorded> {
  const pages = paginateScan(
    { client: place.dynamodb },
    {
      TableName: place.names.deliveries,
      ConsistentRead: true,
      FilterExpression: 'received_at >= :since',
      ExpressionAttributeValues: { ':since': { N: String(Math.floor(since.getTime() / 1000)) } },
    },
  )
  for await (const { Items = [] } of pages) {
    for (const { delivery, source, external_id, status, received_at } of Items) {
      yield {
        delivery: delivery?.S ?? '',
        source: source?.S ?? '',
        external_id: external_id?.S ?? '',
        status: status?.S ?? '',
        at: new Date(Number(received_at?.N) * 1000),
      }
    }
  }
}
