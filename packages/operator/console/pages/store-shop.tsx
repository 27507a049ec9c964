import { Id } from '@order-relay/web/id.tsx'
import { language, listed } from '@order-relay/web/language.ts'
import { Ago, type Column, Empty, Facts, Moment, Name, Section, Table } from '@order-relay/web/pieces.tsx'
import type { RouteData } from './api.ts'
import { t } from './persian.ts'

type Shop = NonNullable<RouteData<'shop'>['shop']>

const NEEDS: Column<Shop['needs'][number]>[] = [
  { label: t('Order'), cell: ({ order }) => <Id value={order} /> },
  { label: t('Since'), cell: ({ since }) => <Ago iso={since} /> },
  { label: t('What to do'), kind: 'breaks', cell: ({ action }) => <Name>{action[language]}</Name> },
]

/** The WooCommerce shop connected to the store, as in `relay woo list`. */
export const WooShop = ({ shop, failure, webhooks, polled, synchronized, needs }: Shop) => (
  <Section id="shop" title={t('WooCommerce shop')}>
    <Facts
      facts={{
        [t('Shop')]: <Id value={shop} />,
        [t('Webhooks')]: failure ?? listed(webhooks.map(({ topic, status }) => `${topic}: ${status}`)),
        [t('Last read')]: polled && <Moment iso={polled} />,
        [t('Last synchronized')]: synchronized && <Moment iso={synchronized} />,
      }}
    />
    <Table columns={NEEDS} rows={needs} keyOf={({ order }) => order}>
      <Empty title={t('No order needs attention.')} />
    </Table>
  </Section>
)
