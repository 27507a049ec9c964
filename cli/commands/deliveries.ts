import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { cannot } from '../failure.ts'
import type { Place } from '../place/place.ts'
import { act, type Relay } from '../relay-command.ts'
import type { Report } from '../report.ts'
import { facts } from '../table.ts'
import { nowSeconds } from '../webhook/post.ts'

const date = (seconds: string | undefined) => new Date(Number(seconds) * 1000).toISOString()

const show = async (place: Place, delivery: string): Promise<Report> => {
  const { Item } = await place.dynamodb.send(
    new GetItemCommand({
      TableName: place.names.deliveries,
      Key: { delivery: { S: delivery } },
      ConsistentRead: true,
    }),
  )
  if (Item === undefined) {
    throw cannot(
      'show the delivery',
      `none "${delivery}" was queued in the last thirty days`,
      `it may have been refused, ignored or quarantined: relay quarantine list${place.flags}`,
    )
  }
  const { source, external_id, status, received_at, expires_at } = Item
  const data = {
    delivery,
    source: source?.S,
    external_id: external_id?.S,
    status: status?.S,
    received_at: date(received_at?.N),
    remembered_until: date(expires_at?.N),
    // DynamoDB deletes expired items late; to the receiver this one is unknown.
    forgotten: Number(expires_at?.N) <= nowSeconds(),
  }
  return { data, text: facts(data) }
}

/** `relay deliveries`: which webhooks were queued. */
export const deliveriesCommands = (relay: Relay): void => {
  const deliveries = relay.command('deliveries').description('Webhooks that were accepted and queued.')
  deliveries
    .command('show')
    .description('Show what a delivery was about and when it was queued.')
    .argument('<id>', "the delivery's UUID, as in X-Service-Delivery")
    .action((id, _options, command) => act(command, place => show(place, id)))
}
