import { visible } from '@order-relay/lib/platform/visible.ts'
import { decimal } from '@order-relay/web/format.ts'
import { Code, Day, Facts, Name } from '@order-relay/web/pieces.tsx'
import type { RouteData } from './api.ts'
import { nameIn } from './order-pieces.tsx'
import { t } from './persian.ts'

type Request = RouteData<'order'>['requests'][number]
type Content = NonNullable<Request['content']>

const METHODS: Readonly<Record<string, string>> = {
  online: t('online'),
  transfer: t('bank transfer'),
  card: t('card'),
  pos: t('card reader'),
  cash: t('cash'),
}

/** Maximum number of rows shown of a create. */
const ROWS = 50

const Rows = ({ rows }: { rows: NonNullable<Content['rows']> }) => (
  <ul>
    {rows.slice(0, ROWS).map(({ sku, name, quantity, unit_price, amount }, index) => (
      <li key={String(index)}>
        <Code>{visible(sku)}</Code> {name !== undefined && <Name>{visible(name)}</Name>}{' '}
        {t('{quantity} × {price}: {amount}', {
          quantity: decimal(quantity),
          price: decimal(unit_price),
          amount: decimal(amount),
        })}
      </li>
    ))}
    {rows.length > ROWS && <li>{t('and {count} more', { count: rows.length - ROWS })}</li>}
  </ul>
)

const Payment = ({ method, reference, date }: NonNullable<Content['payment']>) => (
  <ul>
    {method !== undefined && <li>{nameIn(METHODS, method)}</li>}
    {reference !== undefined && reference !== '' && (
      <li>
        {t('reference')} <Code>{visible(reference)}</Code>
      </li>
    )}
    {date !== undefined && (
      <li>
        <Day date={date} />
      </li>
    )}
  </ul>
)

/**
 * What an open request contains, and of an ended create only whether it included a payment: a body is kept until its
 * request ends.
 *
 * @param total the total of the invoice, which a payment pays as a whole
 */
export const RequestContent = ({
  request: { kind, content = {}, with_payment },
  order: { total, status },
}: {
  request: Pick<Request, 'kind' | 'content' | 'with_payment'>
  order: Pick<RouteData<'order'>, 'total' | 'status'>
}) => {
  const { rows, shipping, discount, total: sum, payment, reason } = content
  return (
    <>
      <Facts
        facts={{
          [t('Rows, rials')]: rows && <Rows rows={rows} />,
          [t('Shipping')]: shipping && decimal(shipping),
          [t('Discount')]: discount && decimal(discount),
          [t('Sum as sent')]: sum && decimal(sum),
          [t('Amount: the invoice total')]:
            kind === 'payment' && payment && total != null && decimal(visible(String(total))),
          [t('Payment')]: payment && <Payment {...payment} />,
          [t('Reason')]: reason && <Name>{visible(reason)}</Name>,
        }}
      />
      {with_payment && (
        <p class="muted">
          {status === 'needs_review'
            ? t('With a payment, which the service holds until the invoice is finalized.')
            : t('With a payment.')}
        </p>
      )}
    </>
  )
}
