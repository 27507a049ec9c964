import { visible } from '@order-relay/lib/platform/visible.ts'
import { ask } from '@order-relay/web/dialog.tsx'
import { Choice } from '@order-relay/web/filters.tsx'
import { decimal } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { translateMessage } from '@order-relay/web/messages.ts'
import { attempt, toast } from '@order-relay/web/notices.ts'
import { Ago, Button, Code, type Column, Moment, Name, Section, Table } from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { act, type RouteData, reads } from './api.ts'
import { outcomeText } from './outcomes.ts'
import { t } from './persian.ts'
import { linkToOrder, Message, PERIODS } from './pieces.tsx'

type Balance = NonNullable<RouteData<'balance'>['balance']>
type Difference = Balance['differences'][number]
type Group = NonNullable<Balance['lists'][string]>[number]

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

const OrderLink = ({ source, external_id }: { source: string; external_id: string }) => (
  <a href={linkToOrder(source, external_id)}>
    <Name>{visible(`${source} ${external_id}`)}</Name>
  </a>
)

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
const Unread = ({ unread, waitingSince }: Balance) =>
  unread.length > 0 && (
    <div class="verdict card" data-tone="bad" role="status">
      {unread.map(({ reason, orders }) => (
        <p key={reason}>
          {t('{count} {count|order was|orders were} not compared with the service:', { count: orders })}{' '}
          <Message text={reason} />
        </p>
      ))}
      {waitingSince !== undefined && (
        <p>{t('Events wait for the service since {time}.', { time: <Moment iso={waitingSince} /> })}</p>
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

const Differences = ({ since, until, unread, repaired, ...balance }: Balance) => {
  const differences = balance.differences.filter(({ outdated }) => !outdated || repaired === undefined)
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
  const outdated = differences.filter(each => each.outdated)
  const erase = 'relay orders erase <source> <external_id>'
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
      {differences.some(each => each.unregistered) && (
        <p class="note">
          {t(
            'An order that is unknown to the service was registered there once, for example before the service was restored: its store must send the create again. If the order is not wanted, erase it: {erase}',
            { erase: <Code>{erase}</Code> },
          )}
        </p>
      )}
    </Section>
  )
}

const Line = ({ count, children }: { count: number; children: ComponentChildren }) => (
  <>
    <span class="tally">{decimal(count)}</span>
    {children}
  </>
)

/** A count that expands to its members. */
const Counted = ({ name, count, members }: Group) => {
  const words = name.split(' ').map(word => STATES[word] ?? translateMessage(word))
  const line = <Line count={count}>{words.join(' ')}</Line>
  if (count === 0) return <p>{line}</p>
  return (
    <details>
      <summary>{line}</summary>
      <ul class="members small">
        {members.map(({ source, external_id, id }) => (
          <li key={id ?? `${source} ${external_id}`}>
            <OrderLink {...{ source, external_id }} /> {id && <Id value={visible(id)} />}
          </li>
        ))}
        {count > members.length && <li>{t('and {count} more', { count: count - members.length })}</li>}
      </ul>
    </details>
  )
}

const STATES: Readonly<Record<string, string>> = {
  applied: t('applied'),
  unchanged: t('changed nothing'),
  dead: t('dead letters'),
  quarantined: t('quarantined'),
  waiting: t('waiting'),
  unaccounted: t('unaccounted for'),
  known: t('changed'),
  asked: t('compared with the service'),
  unread: t('not compared'),
  held: t('held'),
  registered: t('registered'),
  duplicate: t('duplicate'),
  rejected: t('rejected'),
  withdrawn: t('withdrawn'),
}

const Part = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="card">
    <h3>{title}</h3>
    {children}
  </section>
)

const Numbers = ({ deliveries, lists, left, undelivered, since, until }: Balance) => {
  const parts: [string, readonly Group[] | undefined][] = [
    [t('Events of the order queue'), lists.queue],
    [t('Requests of stores'), lists.requests],
    [t('All requests of the orders that changed'), lists.stored],
    [t('Orders'), lists.orders],
  ]
  const outcomes = Object.entries(deliveries?.outcomes ?? {}).toSorted(([, a], [, b]) => b - a)
  return (
    <Section id="numbers" title={t('Summary')}>
      <p class="small muted note">
        <Moment iso={since} /> – <Moment iso={until} />
      </p>
      <div class="graphs">
        <Part title={t('Webhooks received')}>
          {deliveries === undefined && <p>{t('Not counted, because there is no log.')}</p>}
          {deliveries !== undefined && outcomes.length === 0 && <p class="muted">{t('none')}</p>}
          <ul>
            {outcomes.map(([name, count]) => (
              <li key={name}>
                <a href={linkTo(['deliveries'], { since: period.value, outcome: name.split(':')[0] })}>
                  <Line count={count}>{outcomeText(name)}</Line>
                </a>
              </li>
            ))}
          </ul>
        </Part>
        {parts.map(([title, groups = []]) => (
          <Part key={title} title={title}>
            {groups.map(group => (
              <Counted key={group.name} {...group} />
            ))}
            {groups.length === 0 && <p class="muted">{t('none')}</p>}
          </Part>
        ))}
        <Part title={t('Messages that stores have not received')}>
          {undelivered.length === 0 && <p class="muted">{t('none')}</p>}
          <ul>
            {undelivered.map(({ source, waiting, inFlight, dead }) => (
              <li key={source}>
                <a href={linkTo(['stores', source])}>
                  <Name>{visible(source)}</Name>
                </a>
                <p>
                  <Line count={waiting}>{t('waiting')}</Line>
                </p>
                <p>
                  <Line count={inFlight}>{t('being received or waiting for a retry')}</Line>
                </p>
                <p>
                  <Line count={dead}>{t('dead letters')}</Line>
                </p>
              </li>
            ))}
          </ul>
        </Part>
        <Part title={t('Waiting for a decision')}>
          <ul>
            <li>
              <a href="#/dead">
                <Line count={left.dead}>{t('dead letters')}</Line>
              </a>
            </li>
            <li>
              <a href="#/quarantine">
                <Line count={left.quarantined}>{t('quarantined')}</Line>
              </a>
            </li>
          </ul>
        </Part>
      </div>
    </Section>
  )
}

/** Everything received, and its outcome. */
export const Audit = page(
  {
    title: () => t('Audit'),
    reads: () => ({ audit: reads('audit', {}, 'audit'), last: reads('balance', {}, 'balance') }),
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
          <Numbers {...balance} />
        </>
      )}
    </>
  ),
)
