import { Body } from '@order-relay/web/body.tsx'
import { formatMilliseconds } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { translateMessage } from '@order-relay/web/messages.ts'
import { attempt, toast } from '@order-relay/web/notices.ts'
import { Button, Chip, type Column, Moment, Name, Table, Wait } from '@order-relay/web/pieces.tsx'
import { STATUS_NAMES } from '@order-relay/web/status.tsx'
import { change, type SchemaData } from './api.ts'
import { t } from './persian.ts'
import { linkToOrder } from './pieces.tsx'

type Delivery = SchemaData<'Delivery'>
type Attempt = Delivery['attempts'][number]

const STATES = { pending: t('Pending'), delivered: t('Delivered'), failed: t('Failed') }

const TONES = { pending: 'wait', delivered: 'good', failed: 'bad' } as const

/** The outcome of an attempt. */
export const resultOf = ({ status, error }: Pick<Attempt, 'status' | 'error'>) =>
  status === null
    ? error === null
      ? t('No response')
      : translateMessage(error)
    : t('HTTP {status}', { status })

/** A webhook as it was sent, as text. */
export const Message = ({ headers, body }: Pick<Attempt, 'headers'> & Pick<Delivery, 'body'>) => (
  <details class="small">
    <summary>{t('Headers, signature and payload')}</summary>
    <pre dir="ltr">{Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`)}</pre>
    <Body label={t('Payload')} text={body} />
  </details>
)

const COLUMNS: Column<Attempt>[] = [
  { label: t('Sent'), kind: 'plain', cell: ({ at }) => <Moment iso={at} /> },
  { label: t('Result'), cell: attempt => <Name>{resultOf(attempt)}</Name> },
  {
    label: t('Signature'),
    cell: ({ headers }) => <Id value={headers['x-service-signature'] ?? ''} longest={30} />,
  },
  { label: t('Took'), kind: 'number', cell: ({ latency_ms }) => formatMilliseconds(latency_ms) },
  {
    label: t('Answer'),
    cell: ({ response }) =>
      response ? (
        <code class="breaks" dir="auto">
          {response}
        </code>
      ) : (
        <span class="muted">–</span>
      ),
  },
]

const resend = ({ delivery }: Delivery) =>
  attempt(async () => {
    const { state, attempts } = await change<Delivery>('POST', `deliveries/${delivery}/resend`)
    const last = attempts.at(-1)
    toast(
      t('Sent again: {result}', { result: last === undefined ? STATES[state] : resultOf(last) }),
      state === 'delivered' ? undefined : 'bad',
    )
  })

const Item = ({ delivery }: { delivery: Delivery }) => {
  const { state, status, external_id, url, created_at, next_attempt_at, attempts, body } = delivery
  const last = attempts.at(-1)
  return (
    <li>
      <div class="row spread">
        <Chip tone={TONES[state]}>{STATES[state]}</Chip>
        <p class="strong">
          <a href={linkToOrder(delivery)}>{t('Order {order}', { order: <Name>{external_id}</Name> })}</a>{' '}
          {STATUS_NAMES[status].toLowerCase()}
        </p>
        <Button
          kind="small"
          label={t('Resend delivery for order {order}', { order: external_id })}
          onClick={() => resend(delivery)}
        >
          {t('Resend')}
        </Button>
      </div>
      <p class="small">
        <Id value={url} />
      </p>
      <p class="row small muted">
        <Moment iso={created_at} />
        {last !== undefined && (
          <span>
            {t('{result} in {time}', { result: resultOf(last), time: formatMilliseconds(last.latency_ms) })}
          </span>
        )}
        {next_attempt_at !== null && (
          <span>{t('next attempt {when}', { when: <Wait until={next_attempt_at} /> })}</span>
        )}
      </p>
      {last !== undefined && <Message headers={last.headers} body={body} />}
      {attempts.length > 0 && (
        <details class="small">
          <summary>
            {attempts.length === 1 ? t('1 attempt') : t('{count} attempts', { count: attempts.length })}
          </summary>
          <Table
            caption={t('Attempts of delivery {delivery}', { delivery: delivery.delivery })}
            columns={COLUMNS}
            rows={attempts}
            keyOf={({ at, t }) => `${at} ${t}`}
          />
        </details>
      )}
    </li>
  )
}

/** Deliveries with every attempt, newest first, each of which can be sent again. */
export const Deliveries = ({ deliveries }: { deliveries: readonly Delivery[] }) => (
  <ul class="card list">
    {deliveries.map(delivery => (
      <Item key={delivery.delivery} delivery={delivery} />
    ))}
  </ul>
)
