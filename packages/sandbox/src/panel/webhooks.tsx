import { ask } from '@order-relay/web/dialog.tsx'
import { Id } from '@order-relay/web/id.tsx'
import { attempt } from '@order-relay/web/notices.ts'
import {
  Button,
  buttons,
  Code,
  type Column,
  Empty,
  Facts,
  Moment,
  Section,
  Table,
} from '@order-relay/web/pieces.tsx'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { signal } from '@preact/signals'
import { change, deliveriesOf, type SchemaData, WEBHOOKS } from './api.ts'
import { Deliveries, Message, resultOf } from './deliveries.tsx'
import { t } from './persian.ts'
import { limitOf, ShowMore } from './pieces.tsx'

type Webhook = SchemaData<'WebhookList'>['webhooks'][number]

/** The outcome of the last registration or test. */
const outcome = signal<SchemaData<'WebhookRegistration'> | SchemaData<'WebhookTest'> | undefined>(undefined)

const askForAddress = () =>
  ask({
    title: t('Register an address'),
    action: t('Register'),
    text: t('Every change of status is sent to it. An address that is already registered gets a new secret.'),
    fields: [{ name: 'url', label: t('Address'), value: 'http://127.0.0.1:3000/webhook' }],
    submit: async values => {
      outcome.value = await change('PUT', 'webhooks', { url: values.required('url') })
    },
  })

const askToRemove = ({ url }: Webhook) =>
  ask({
    title: t('Remove this address?'),
    action: t('Remove'),
    tone: 'bad',
    text: t('{url} receives no more webhooks, not even pending ones.', { url }),
    submit: async () => {
      await change('DELETE', `webhooks?url=${encodeURIComponent(url)}`)
      outcome.value = undefined
    },
  })

const test = ({ url }: Webhook) =>
  attempt(async () => {
    outcome.value = await change('POST', 'webhooks/test', { url })
  })

const Outcome = () => {
  const { value } = outcome
  if (value === undefined) return null
  const isGood = 'secret' in value || (value.status !== null && value.status < 300)
  return (
    <section class="notice" data-tone={isGood ? 'good' : 'bad'} aria-labelledby="outcome">
      <h2 id="outcome">{'secret' in value ? t('Registered address') : t('Test webhook')}</h2>
      {'secret' in value ? (
        <Facts
          facts={{
            [t('Address')]: <Id value={value.url} />,
            [t('Secret')]: <Id value={value.secret} longest={64} />,
          }}
        />
      ) : (
        <>
          <Facts
            facts={{
              [t('Address')]: <Id value={value.url} />,
              [t('Result')]: resultOf(value),
              [t('Answer')]: value.response && <Code>{value.response}</Code>,
            }}
          />
          <Message headers={value.headers} body={value.body} />
        </>
      )}
    </section>
  )
}

const COLUMNS: Column<Webhook>[] = [
  { label: t('Address'), cell: ({ url }) => <Id value={url} /> },
  { label: t('Registered'), cell: ({ created_at }) => <Moment iso={created_at} /> },
  buttons<Webhook>(
    [t('Test'), ({ url }) => t('Test {url}', { url }), test],
    [t('Remove'), ({ url }) => t('Remove {url}', { url }), askToRemove],
  ),
]

/** The registered URLs, and every delivery with its attempts. */
export const Webhooks = page(
  {
    title: () => t('Webhooks'),
    reads: route => ({ registered: WEBHOOKS, sent: deliveriesOf({ limit: limitOf(route) }) }),
  },
  ({ registered: { webhooks }, sent: { deliveries } }) => (
    <>
      <PageHead>
        <Button kind="primary" onClick={askForAddress}>
          {t('Register an address')}
        </Button>
      </PageHead>
      <Outcome />
      <Section id="registered" title={t('Registered addresses')}>
        <Table columns={COLUMNS} rows={webhooks} keyOf={({ url }) => url}>
          <Empty title={t('No address is registered')}>
            <p>
              {t(
                'Status changes are not sent anywhere. A receiver registers itself, or you register it here.',
              )}
            </p>
          </Empty>
        </Table>
      </Section>
      <Section id="deliveries" title={t('Deliveries')}>
        {deliveries.length === 0 ? (
          <Empty title={t('No deliveries yet')}>
            <p>
              {t(
                'A webhook is sent when the status of an order changes here, for example when a retry finalizes it.',
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
