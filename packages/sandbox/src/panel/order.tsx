import { translateMessage } from '@order-relay/web/messages.ts'
import { Button, Happened, Section, type Tone } from '@order-relay/web/pieces.tsx'
import { linkTo, type Route } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { STATUS_NAMES } from '@order-relay/web/status.tsx'
import { useSignal } from '@preact/signals'
import { Actions } from './actions.tsx'
import { ACCOUNTS, deliveriesOf, FISCAL_YEARS, orderOf, type SchemaData, SETTINGS, WEBHOOKS } from './api.ts'
import { Deliveries } from './deliveries.tsx'
import { Invoice } from './invoice.tsx'
import { t } from './persian.ts'
import { OrderStatus, StoreName, sentTo } from './pieces.tsx'
import { Finalized, type Retried, Review } from './review.tsx'

const DELIVERIES_SHOWN = 50

const keyOf = ({ path, query }: Route) => ({
  source: query.get('source') ?? 'api',
  external_id: path[1] ?? '',
})

const HISTORY: Record<string, readonly [name: string, tone?: Tone]> = {
  created: [t('Created')],
  held: [t('Held for review'), 'wait'],
  payment_held: [t('Payment held'), 'wait'],
  payment_repeated: [t('Payment reported again')],
  finalized: [t('Finalized'), 'open'],
  paid: [STATUS_NAMES.paid, 'good'],
  received: [t('Partial payment'), 'good'],
  reversed: [t('Payment reversed')],
  refunded: [STATUS_NAMES.refunded, 'undone'],
  returned: [t('Partial return'), 'undone'],
  return_reversed: [t('Return reversed')],
  repaid: [t('Repayment'), 'undone'],
  repayment_reversed: [t('Repayment reversed')],
  retried: [t('Retried')],
  stocked: [t('Stock changed')],
  reviewed: [t('Moved back to review'), 'wait'],
  corrected: [t('Corrected')],
  refused: [t('Refused'), 'wait'],
}

/** The history of an order, oldest first. Its webhooks are listed beside it, with their attempts. */
const Timeline = ({ history }: Pick<SchemaData<'OrderDetail'>, 'history'>) => (
  <ol class="timeline">
    {history
      .filter(({ kind }) => kind !== 'webhook')
      .map(({ at, kind, message }, index) => {
        const [name, tone] = HISTORY[kind] ?? [kind]
        return (
          <Happened key={String(index)} what={name} at={at} tone={tone}>
            {message.split('\n').map((line, index) => (
              <p key={String(index)} class="muted" dir="auto">
                {translateMessage(line)}
              </p>
            ))}
          </Happened>
        )
      })}
  </ol>
)

/** An order: what it waits for, its actions, its invoice, its history and its deliveries. */
export const Order = page(
  {
    title: route => t('Order {order}', { order: keyOf(route).external_id }),
    reads: route => ({
      order: orderOf(keyOf(route)),
      sent: deliveriesOf({ limit: DELIVERIES_SHOWN, order: keyOf(route).external_id }),
      money: ACCOUNTS,
      settings: SETTINGS,
      registered: WEBHOOKS,
      calendar: FISCAL_YEARS,
    }),
    announce: ({ order: before }, { order }) =>
      before.status === order.status
        ? undefined
        : t('Order {order}: {status}', { order: order.external_id, status: STATUS_NAMES[order.status] }),
  },
  ({ order, sent, money: { accounts }, settings, registered, calendar }) => {
    const retried = useSignal<Retried | undefined>(undefined)
    // Any later change of the order makes the outcome of the retry obsolete.
    const outcome = retried.value?.order.updated_at === order.updated_at ? retried.value : undefined
    const money = {
      accounts,
      receiving: accounts.find(({ code }) => code === settings.orderPaymentReceivingAccount),
    }
    const deliveries = sent.deliveries.filter(({ source }) => source === order.source)
    const onRetried = (result: Retried) => {
      retried.value = result
    }
    return (
      <>
        <PageHead kind="order-head">
          <OrderStatus {...order} />
          <StoreName {...order} />
          <Button kind="small" onClick={() => window.print()}>
            {t('Print invoice')}
          </Button>
        </PageHead>
        {order.status === 'needs_review' ? (
          <Review
            order={order}
            money={money}
            outcome={outcome}
            onRetried={onRetried}
            sent={sentTo(registered)}
          />
        ) : (
          outcome && <Finalized {...outcome} />
        )}
        <Actions order={order} money={money} sent={sentTo(registered)} years={calendar.fiscalYears} />
        {order.warnings.length > 0 && (
          <div class="notice" data-tone="wait">
            {order.warnings.map(warning => (
              <p key={warning} dir="auto">
                {translateMessage(warning)}
              </p>
            ))}
          </div>
        )}
        <Invoice order={order} />
        <div class="columns">
          <Section id="history" title={t('History')}>
            <Timeline {...order} />
          </Section>
          <Section id="deliveries" title={t('Webhook deliveries')}>
            {deliveries.length === 0 ? (
              <p class="muted">
                {registered.webhooks.length === 0 ? (
                  <>
                    {t('No address is registered, so no webhook is sent.')}{' '}
                    <a href={linkTo(['webhooks'])}>{t('Register an address')}</a>
                  </>
                ) : (
                  t(
                    'None. A webhook is sent when the status changes in the service, not for changes that the store itself requested.',
                  )
                )}
              </p>
            ) : (
              <Deliveries deliveries={deliveries} />
            )}
          </Section>
        </div>
      </>
    )
  },
)
