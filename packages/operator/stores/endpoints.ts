import type { HttpStore } from '@order-relay/lib/platform/http-stores.ts'
import { TABLES } from '@order-relay/lib/platform/names.ts'
import { registrationRepository } from '@order-relay/lib/platform/registrations.ts'
import { REGISTRATION_PATH } from '@order-relay/lib/protocol/order.ts'
import type { Context } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import { feedSecretsOf } from '../model/feed-secrets.ts'

/** The URL that a store has registered for its HTTP feed and since when, read without the secret; undefined if none. */
export const registrationOf = async (
  { dynamodb, nameOf }: Pick<Context, 'dynamodb' | 'nameOf'>,
  source: string,
): Promise<{ url: string; since: string } | undefined> => {
  const { Item: { url, registered_at } = {} } = await dynamodb.getItem({
    TableName: nameOf(TABLES.registrations),
    Key: { source: { S: source } },
    ConsistentRead: true,
    ProjectionExpression: '#url, registered_at',
    ExpressionAttributeNames: { '#url': 'url' },
  })
  return url?.S === undefined ? undefined : { url: url.S, since: registered_at?.S ?? '' }
}

/** The URL that a store has registered for its HTTP feed, with the secret; undefined if none. */
export const registeredEndpoint = (
  { dynamodb, nameOf }: Pick<Context, 'dynamodb' | 'nameOf'>,
  source: string,
) => registrationRepository(dynamodb, nameOf(TABLES.registrations)).get(source)

/**
 * The endpoint of an HTTP feed, and the secrets that sign its messages: one, or two during a rotation.
 *
 * @param action the action that needs it
 */
export const endpointOf = async (
  context: Context,
  { source, feed }: HttpStore,
  action: string,
): Promise<{ url: string; secrets: readonly string[] }> => {
  if (feed.http !== undefined)
    return { url: feed.http, secrets: await feedSecretsOf(context, source, action) }
  const registered = await registeredEndpoint(context, source)
  if (registered !== undefined) return { url: registered.url, secrets: [registered.secret] }
  const { apiUrl } = await context.stack()
  const remedy = `the store registers one: PUT ${apiUrl}${REGISTRATION_PATH}`
  throw cannot(action, 'the store has registered no webhook URL', remedy)
}
