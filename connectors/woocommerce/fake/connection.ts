import type { Connection } from '../lib/connections.ts'
import { DEFAULTS } from '../lib/settings.ts'
import type { FakeShop } from './shop.ts'

/** A connection of the fake shop, whose prices include the sandbox's tax. */
export const connectionOf = (
  { url, key, secret }: Pick<FakeShop, 'url' | 'key' | 'secret'>,
  source: string,
  sides: Pick<Connection, 'webhooks' | 'relay'>,
): Connection => ({
  settings: {
    ...DEFAULTS,
    source,
    shop: url,
    currency: 'IRR',
    decimals: 0,
    taxRate: 10,
    pricesIncludeTax: true,
  },
  language: 'en',
  since: new Date(0).toISOString(),
  shop: { url, key, secret },
  ...sides,
})
