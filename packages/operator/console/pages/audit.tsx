import { visible } from '@order-relay/lib/platform/visible.ts'
import { ask } from '@order-relay/web/dialog.tsx'
import { Choice } from '@order-relay/web/filters.tsx'
import { Id } from '@order-relay/web/id.tsx'
import { translateMessage } from '@order-relay/web/messages.ts'
import { attempt, toast } from '@order-relay/web/notices.ts'
import { Ago, Button, type Column, Moment, Name, Section, Table } from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { signal } from '@preact/signals'
import { act, type RouteData, reads } from './api.ts'
import { Numbers, OrderLink } from './audit-numbers.tsx'
import { t } from './persian.ts'
import { Message, PERIODS } from './pieces.tsx'

type Balance = NonNullable<RouteData<'balance'>['balance']>
type Difference = Balance['differences'][number]

const CHOICES = [...PERIODS, ['30d', t('Last 30 days')]] as const

/** Kept while other pages are shown. */
const period = signal<(typeof CHOICES)[number][0]>('24h')

const audit = () => attempt(() => act('audit/start', { since: period.value }))

/** Starts an audit over at least the last hours, and shows it. */
export const auditHours = async (hours: number) => {
  const days = hours / 24
  period.value = days > 7 ? '30d' : days > 1 ? '7d' : hours > 1 ? '24h' : '1h'
  await audit()
  location.hash = linkTo(['audit'])
}

const DIFFERENCES: Column<Difference>[] = [
  { label: t('Order'), kind: 'breaks', cell: difference => <OrderLink {...difference} /> },
  { label: t('Difference'), kind: 'breaks sentences', cell: ({ what }) => <Message text={what} /> },
  { label: t('Id'), cell: ({ id }) => id && <Id value={visible(id)} /> },
]

const repair = (orders: readonly Difference[]) =>
  ask({
    title: t('Repair {count} {count|order|orders}', { count: orders.length }),
    text: t(
      'The worker reads each order from the accounting service, applies the result, and publishes it to the store. Nothing changes in the service.',
    ),
    action: t('Re-read orders'),
    submit: async () => {
      const { checked } = await act('audit/repair', {
        orders: orders.map(({ source, external_id }) => ({ source, external_id })),
      })
      toast(
        t('{count} {count|order is|orders are} being re-read. Run the audit again afterwards.', {
          count: checked,
        }),
      )
    },
  })

/** The orders that could not be read from the service, one line for each reason. */
const Unread = ({ unread, waitingSince, hasRecovered }: Balance) =>
  unread.length > 0 && (
    <div class="verdict card" data-tone="bad" role="status">
      {unread.map(({ reason, orders }) => (
        <p key={reason}>
          {t('{count} {count|order was|orders were} not compared with the service:', { count: orders })}{' '}
          <Message text={reason} />
        </p>
      ))}
      {waitingSince !== undefined && (
        <p>
          {t('Events have been waiting for the service since {time}.', {
            time: <Moment iso={waitingSince} />,
          })}
        </p>
      )}
      {hasRecovered && (
        <>
          <p>{t('No event waits for the service any more. Audit again to compare these orders.')}</p>
          <Button onClick={audit}>{t('Audit again')}</Button>
        </>
      )}
    </div>
  )

/** The orders that were re-read after this audit, which therefore does not show whether they agree now. */
const Repaired = ({ repaired }: Balance) =>
  repaired && (
    <div class="verdict card" data-tone="wait" role="status">
      <p>
        {t('{count} {count|order was|orders were} repaired {when}. Audit again to confirm that they agree.', {
          count: repaired.orders,
          when: <Ago iso={repaired.at} />,
        })}
      </p>
      <Button onClick={audit}>{t('Audit again')}</Button>
    </div>
  )

const Differences = ({ since, until, unread, repaired, differences, remedies }: Balance) => {
  if (differences.length === 0) {
    return (
      unread.length === 0 &&
      repaired === undefined && (
        <p class="verdict card" data-tone="good" role="status">
          {t('Everything from {since} to {until} is accounted for.', {
            since: <Moment iso={since} />,
            until: <Moment iso={until} />,
          })}
        </p>
      )
    )
  }
  const outdated = differences.filter(({ remedy }) => remedy === 'outdated')
  return (
    <Section
      id="differences"
      title={t('Differences: {count}', { count: differences.length })}
      aside={outdated.length > 0 && <Button onClick={() => repair(outdated)}>{t('Repair…')}</Button>}
    >
      <Table
        caption={t('Differences')}
        columns={DIFFERENCES}
        rows={differences.slice(0, 200)}
        keyOf={({ what, id, source, external_id }) => `${source} ${external_id} ${what} ${id}`}
      />
      {remedies.map(remedy => (
        <Message key={remedy.code} text={remedy} as="p" kind="note breaks" />
      ))}
    </Section>
  )
}

/** Everything received, and its outcome. */
export const Audit = page(
  {
    title: () => t('Audit'),
    reads: () => ({ audit: reads('audit', {}, 'audit'), last: reads('balance', {}, 'balance', 'failing') }),
  },
  ({ audit: { job }, last: { balance } }) => (
    <>
      <PageHead />
      <p class="note">
        {t(
          'Accounts for every webhook and request, and compares each order that changed with the accounting service.',
        )}
      </p>
      <div class="filters row">
        <Choice
          label={t('Period')}
          value={period.value}
          options={CHOICES}
          onChoose={value => {
            period.value = CHOICES.find(([each]) => each === value)?.[0] ?? period.value
          }}
        />
        <Button kind="primary" onClick={audit}>
          {t('Audit')}
        </Button>
        <span role="status">
          {job && !job.end && <Name>{translateMessage(job.progress?.text ?? '') || t('Reading…')}</Name>}
        </span>
      </div>
      <p class="error" role="alert">
        {translateMessage(job?.end?.failure ?? '')}
      </p>
      {balance && (job === undefined || job.end) && (
        <>
          <Unread {...balance} />
          <Repaired {...balance} />
          <Differences {...balance} />
          <Numbers {...balance} period={period.value} />
        </>
      )}
    </>
  ),
)
