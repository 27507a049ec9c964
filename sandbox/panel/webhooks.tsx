import { Code, type Column, Command, Empty, Moment, Section, Table } from '../../web/pieces.tsx'
import { PageHead, page } from '../../web/shell.tsx'
import { type Answer, deliveriesOf, WEBHOOKS } from './api.ts'
import { Deliveries } from './deliveries.tsx'
import { t } from './persian.ts'
import { limitOf, ShowMore } from './pieces.tsx'

type Webhook = Answer<'WebhookList'>['webhooks'][number]

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
  ({ registered: { webhooks }, sent: { deliveries } }) => (
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
        <ShowMore shown={deliveries.length} />
      </Section>
    </>
  ),
)
