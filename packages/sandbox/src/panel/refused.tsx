import { Body } from '@order-relay/web/body.tsx'
import { exactDate } from '@order-relay/web/calendar.ts'
import { ask } from '@order-relay/web/dialog.tsx'
import { decimal, formatDate, formatMoment } from '@order-relay/web/format.ts'
import { queryOf } from '@order-relay/web/http.ts'
import { Id } from '@order-relay/web/id.tsx'
import { shortened } from '@order-relay/web/language.ts'
import { toast } from '@order-relay/web/notices.ts'
import {
  Button,
  buttons,
  Code,
  type Column,
  Empty,
  Facts,
  LinkButton,
  Moment,
  Name,
  Scrolls,
  Table,
} from '@order-relay/web/pieces.tsx'
import { linkTo, linkWith, route } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { change, refusalsOf } from './api.ts'
import { t } from './persian.ts'
import { customerName, limitOf, linkToOrder, PAYMENT_METHODS, ShowMore, StoreName } from './pieces.tsx'
import { askToAddProduct } from './products.tsx'
import { type Refused, Remedy, reasonOf } from './refusal-reason.tsx'

type Sent = NonNullable<Refused['sent']>
type Item = Sent['items'][number]

const ITEM_COLUMNS: Column<Item>[] = [
  {
    label: t('Item'),
    kind: 'breaks',
    cell: ({ sku, name }) => (
      <>
        {name !== null && <Name>{name}</Name>} <Code>{sku}</Code>
      </>
    ),
  },
  { label: t('Quantity'), kind: 'number', cell: ({ quantity }) => decimal(quantity) },
  { label: t('Unit price'), kind: 'number', cell: ({ unit_price }) => decimal(unit_price) },
  { label: t('Discount'), kind: 'number', cell: ({ discount }) => decimal(discount) },
]

/** The date as an accountant reads it; stores may have sent any text. */
const dayOf = (date: string | null) => date && (exactDate(date) === date ? formatDate(date) : date)

/** The rows and the total of a refused order. */
const Sent = ({ items, shipping, discount, date, method, total }: Sent) => (
  <>
    <Scrolls label={t('Items')}>
      <Table
        caption={t('Items')}
        columns={ITEM_COLUMNS}
        rows={items}
        keyOf={item => String(items.indexOf(item))}
      />
    </Scrolls>
    <Facts
      facts={{
        [t('Shipping')]: shipping !== 0 && decimal(shipping),
        [t('Order discount')]: discount !== 0 && decimal(-discount),
        [t('Total with tax, in rials')]: total !== null && decimal(total),
        [t('Date')]: dayOf(date),
        [t('Payment')]: method !== null && PAYMENT_METHODS[method],
      }}
    />
  </>
)

/** More characters do not fit on a phone's button. */
const LONGEST_CODE = 20

const Reason = (refused: Refused) => {
  const { current, missing, body, sent, resolved_at } = refused
  const last = reasonOf(refused)
  const now = current && reasonOf({ ...refused, ...current })
  return (
    <>
      {now !== null && (
        <p>
          {now === last ? <Name>{now}</Name> : t('Current reason: {reason}', { reason: <Name>{now}</Name> })}
        </p>
      )}
      {now !== last && <p>{t('Earlier reason: {reason}', { reason: <Name>{last}</Name> })}</p>}
      {resolved_at === null ? (
        <p class="small muted">
          <Remedy {...refused} />
        </p>
      ) : (
        <p class="small muted">{t('Registered {when}', { when: formatMoment(resolved_at) })}</p>
      )}
      {resolved_at === null && missing.length > 0 && (
        <p class="row">
          {missing.map(product => (
            <Button key={product.sku} kind="small" onClick={() => askToAddProduct(product)}>
              {t('Add product {code}', { code: <Code>{shortened(product.sku, LONGEST_CODE)}</Code> })}
            </Button>
          ))}
        </p>
      )}
      {body !== null && (
        <details class="small">
          <summary>{t('What the store sent')}</summary>
          {sent && <Sent {...sent} />}
          <details open={sent === null}>
            <summary>{t('As JSON')}</summary>
            <Body label={t('What the store sent')} text={body} />
          </details>
        </details>
      )}
    </>
  )
}

const COLUMNS: Column<Refused>[] = [
  {
    label: t('Order'),
    kind: 'plain',
    cell: order => (
      <>
        <Id
          value={order.external_id}
          longest={24}
          href={order.resolved_at === null ? undefined : linkToOrder(order)}
        />{' '}
        <StoreName {...order} />
      </>
    ),
  },
  {
    label: t('Customer'),
    kind: 'breaks',
    cell: ({ customer }) => customer !== null && <Name>{customerName(customer)}</Name>,
  },
  { label: t('Reason of the refusal'), kind: 'breaks', cell: order => <Reason {...order} /> },
  {
    label: t('Last refused'),
    cell: ({ attempts, first_at, last_at }) => (
      <>
        <Moment iso={last_at} />
        {attempts > 1 && (
          <p class="small muted">
            {t('{count} times since {when}', { count: decimal(attempts), when: formatMoment(first_at) })}
          </p>
        )}
      </>
    ),
  },
]

const askToDismiss = ({ source, external_id }: Refused) =>
  ask({
    title: t('Remove order {order} from the list?', { order: external_id }),
    action: t('Dismiss'),
    tone: 'bad',
    text: t(
      'This is the only record of the order, and it cannot be restored. If the store sends it again and it is refused again, it is listed again.',
    ),
    submit: async () => {
      await change('DELETE', `refusals${queryOf({ external_id, source })}`)
      toast(t('Order {order} is no longer listed', { order: external_id }))
    },
  })

const OPEN_COLUMNS: Column<Refused>[] = [
  ...COLUMNS,
  buttons<Refused>([
    t('Dismiss'),
    ({ external_id }) => t('Dismiss order {order}', { order: external_id }),
    askToDismiss,
  ]),
]

const Tabs = ({ state, open }: { state: string; open: number }) => (
  <ul class="tabs row" aria-label={t('Refused orders')} data-keeps-focus>
    {(
      [
        ['', t('Not registered'), open],
        ['resolved', t('Registered since'), undefined],
      ] as const
    ).map(([value, label, count]) => (
      <li key={value}>
        <a href={linkWith({ state: value })} aria-current={state === value ? 'true' : undefined}>
          {label} {count !== undefined && <span class="muted">{decimal(count)}</span>}
        </a>
      </li>
    ))}
  </ul>
)

/** Orders that stores tried to create and that were refused, and what the accountant can do about it. */
export const RefusedOrders = page(
  {
    title: () => t('Refused orders'),
    reads: ({ query }) => ({
      list: refusalsOf({ state: query.get('state'), limit: limitOf(route.value) }),
    }),
    announce: (before, after) =>
      after.list.open === before.list.open
        ? undefined
        : t('Refused orders: {count}', { count: decimal(after.list.open) }),
  },
  ({ list: { refusals, open } }) => {
    const state = route.value.query.get('state') ?? ''
    return (
      <>
        <PageHead />
        <Tabs state={state} open={open} />
        <Table
          kind="refusals"
          columns={state === '' ? OPEN_COLUMNS : COLUMNS}
          rows={refusals}
          keyOf={({ source, external_id }) => `${source}/${external_id}`}
        >
          <Empty title={state === '' ? t('No order is refused') : t('No refused order was registered since')}>
            <p>
              {t(
                'An order is refused, for example, if it has a product that does not exist here. No part of it is registered.',
              )}
            </p>
            {state !== '' && <LinkButton href={linkTo(['refused'])}>{t('Not registered')}</LinkButton>}
          </Empty>
        </Table>
        <ShowMore shown={refusals.length} />
      </>
    )
  },
)
