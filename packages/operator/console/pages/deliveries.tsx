import { visible } from '@order-relay/lib/platform/visible.ts'
import { Id } from '@order-relay/web/id.tsx'
import { Chip, type Column, Empty, LinkButton, Moment, Name, Table } from '@order-relay/web/pieces.tsx'
import { linkTo, type Route, replaceRoute } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { useEffect } from 'preact/hooks'
import { type RouteData, reads } from './api.ts'
import { Fields } from './fields.tsx'
import { OUTCOMES, reasonText } from './outcomes.ts'
import { t } from './persian.ts'
import { ListFilters, linkToMessage, linkToOrder, OF_ORDER } from './pieces.tsx'

type Row = RouteData<'deliveries'>['deliveries'][number]

const COLUMNS: Column<Row>[] = [
  { label: t('Received'), kind: 'plain', cell: ({ at }) => <Moment iso={at} /> },
  {
    label: t('Outcome'),
    cell: ({ outcome }) => {
      const [name = outcome, tone = 'undone'] = OUTCOMES[outcome] ?? []
      return <Chip tone={tone}>{name}</Chip>
    },
  },
  { label: t('Why'), cell: ({ why }) => why && <Name>{reasonText(why)}</Name> },
  ...OF_ORDER,
  {
    label: t('Delivery'),
    cell: ({ delivery, outcome }) => (
      <>
        {delivery && (
          <Id
            value={visible(delivery)}
            href={outcome === 'queued' ? linkTo(['deliveries', delivery]) : undefined}
            kind="row-link"
          />
        )}{' '}
        {outcome === 'quarantined' && <a href={linkTo(['quarantine'])}>{t('Show the quarantine')}</a>}
      </>
    ),
  },
]

const filterOf = ({ query }: Route) => ({
  since: query.get('since') ?? '1h',
  outcome: query.get('outcome'),
  source: query.get('source'),
})

const Filters = () => (
  <div class="filters row" data-keeps-focus>
    <ListFilters outcomes={OUTCOMES} />
  </div>
)

/** The received webhooks and their outcomes. */
export const Deliveries = page(
  {
    title: () => t('Deliveries'),
    reads: route => ({ list: reads('deliveries', filterOf(route), 'delivery received', 'delivery failed') }),
  },
  ({ list: { deliveries, more } }) => (
    <>
      <PageHead />
      <Filters />
      <p class="small muted note">
        {more
          ? t('The {count} newest webhooks in the log.', { count: deliveries.length })
          : t('Webhooks in the log, newest first: {count}.', { count: deliveries.length })}
      </p>
      <Table columns={COLUMNS} rows={deliveries} keyOf={({ at, delivery }) => `${at} ${delivery}`}>
        <Empty title={t('No delivery matches')}>
          <LinkButton href={linkTo(['deliveries'], { since: '7d' })}>
            {t('Show all of the last week')}
          </LinkButton>
        </Empty>
      </Table>
    </>
  ),
)

/** Redirects to the order whose request or event has this id, or to the message in quarantine with this delivery. */
const Instead = ({ link }: { link: string }) => {
  useEffect(() => replaceRoute(link), [link])
  return <PageHead />
}

/** The record of a delivery. */
export const Delivery = page(
  {
    title: ({ path: [, id = ''] }) => t('Delivery {id}', { id }),
    reads: ({ path: [, id = ''] }) => ({ found: reads('delivery', { id }) }),
  },
  ({ found: { record, order, quarantined: id } }) =>
    record === undefined ? (
      <Instead
        link={
          order
            ? linkToOrder(order.source, order.external_id)
            : linkToMessage({ command: 'quarantine', id: id ?? '' })
        }
      />
    ) : (
      <>
        <PageHead>
          <LinkButton href={linkToOrder(record.source, record.external_id)}>{t('Show the order')}</LinkButton>
        </PageHead>
        <Fields of={record} />
        <p class="small muted note">{t('The record of a delivery is kept for thirty days.')}</p>
      </>
    ),
)
