import { registersItself } from '@order-relay/lib/platform/http-stores.ts'
import { attentionTexts } from '@order-relay/woocommerce/lib/cases.ts'
import { TOPICS } from '@order-relay/woocommerce/lib/compare.ts'
import { type Connection, connectionId } from '@order-relay/woocommerce/lib/connections.ts'
import { PATHS } from '@order-relay/woocommerce/lib/receiver.ts'
import { type Context, storeNamed } from '../core/context.ts'
import { messageOf } from '../core/errors.ts'
import { registrationOf } from '../stores/endpoints.ts'
import { connectorOf } from './connector.ts'

/** The current state of a shop: whether the key may write, and the state of each webhook. */
const reachedShop = async ({ shopOf }: ReturnType<typeof connectorOf>, connection: Connection) => {
  const shop = shopOf(connection)
  try {
    const found = await shop.webhooks(connection.webhooks.url)
    const webhooks = TOPICS.map(topic => ({
      topic,
      status: found.find(each => each.topic === topic)?.status ?? 'missing',
    }))
    const active = found.find(({ status }) => status === 'active')
    // Activating an active webhook changes nothing, but requires a key with write permission.
    const canWrite =
      active === undefined
        ? undefined
        : await shop.activate(active.id).then(
            () => true,
            () => false,
          )
    return { webhooks, canWrite }
  } catch (error) {
    return { webhooks: [], failure: messageOf(error) }
  }
}

/** A connected shop: its webhooks, when it was last read and synchronized, and the orders that need attention. */
export const shopStatus = async (context: Context, connection: Connection) => {
  const connector = connectorOf(context)
  const { source, shop } = connection.settings
  const needs = []
  for await (const { order, since, attention } of connector.needing(source))
    needs.push({ order, since, code: attention.code, action: attentionTexts(attention) })
  const [reached, polled, synchronized] = await Promise.all([
    reachedShop(connector, connection),
    connector.states.cursor(source, 'poll'),
    connector.states.cursor(source, 'sync'),
  ])
  return { source, shop, since: connection.since, ...reached, polled, synchronized, needs }
}

/** Whether a store's feed goes to the connector, according to the store's registration. */
const isConnected = async (context: Context, source: string): Promise<boolean> => {
  if (!registersItself(storeNamed(context, source))) return false
  const registered = await registrationOf(context, source)
  return registered?.url.endsWith(PATHS.feed + connectionId(source)) === true
}

/** The status of a store's shop; undefined for a store without a connected shop. */
export const shopOf = async (context: Context, source: string) => {
  if (!(await isConnected(context, source))) return undefined
  const connection = await connectorOf(context).find(source)
  return connection && shopStatus(context, connection)
}
