import { Code, type Column, Command, Empty, Moment, Section, Table } from '../../web/pieces.tsx'
import { linkTo, type Route } from '../../web/route.ts'
import { PageHead, page } from '../../web/shell.tsx'
import { type Answer, deliveriesOf, WEBHOOKS } from './api.ts'
import { Deliveries } from './deliveries.tsx'
import { t } from './persian.ts'

type Webhook = Answer<'WebhookList'>['webhooks'][number]

const STEP = 50

const limitOf = ({ query }: Route) => Number(query.get('limit')) || STEP

const COLUMNS: Column<Webhook>[] = [
  { label: t('Address'), kind: 'breaks', cell: ({ url }) => <Code>{url}</Code> },
  { label: t('Registered'), cell: ({ created_at }) => <Moment iso={created_at} /> },
]

const registration = () => `curl -X PUT ${location.origin}/api/v1/webhook/ \\
  -H 'Authorization: Bearer sandbox-key' \\
  -H 'Content-Type: application/json' \\
  -d '{"url": "http://127.0.0.1:3000/webhook"}'`

/** Who is told of changes, and every delivery with its attempts. */
export const Webhooks = page(
  {
    title: () => t('Webhooks'),
    reads: route => ({ registered: WEBHOOKS, sent: deliveriesOf({ limit: limitOf(route) }) }),
  },
  ({ registered: { webhooks }, sent: { deliveries }, route }) => (
    <>
      <PageHead title={t('Webhooks')} />
      <Section id="registered" title={t('Registered addresses')}>
        {webhooks.length === 0 ? (
          <Empty title={t('No address is registered')}>
            <p>
              {t(
                'Nobody hears of status changes. A receiver registers itself, or you do it from a terminal:',
              )}
            </p>
            <Command text={registration()} />
          </Empty>
        ) : (
          <Table
            caption={t('Registered addresses')}
            columns={COLUMNS}
            rows={webhooks}
            keyOf={({ url }) => url}
          />
        )}
      </Section>
      <Section id="deliveries" title={t('Deliveries')}>
        {deliveries.length === 0 ? (
          <Empty title={t('No deliveries yet')}>
            <p>
              {t(
                'One is sent when an order changes its status here in the service, as when a retry finalizes it.',
              )}
            </p>
          </Empty>
        ) : (
          <Deliveries deliveries={deliveries} />
        )}
        {deliveries.length >= limitOf(route) && (
          <p class="row" data-keeps-focus>
            <a class="button" href={linkTo(['webhooks'], { limit: String(limitOf(route) + STEP) })}>
              {t('Show more')}
            </a>
          </p>
        )}
      </Section>
    </>
  ),
)
