import { visible } from '@order-relay/lib/platform/visible.ts'
import { decimal } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { translateMessage } from '@order-relay/web/messages.ts'
import { Moment, Name, Section } from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import type { ComponentChildren } from 'preact'
import type { RouteData } from './api.ts'
import { outcomeText } from './outcomes.ts'
import { t } from './persian.ts'
import { linkToOrder } from './pieces.tsx'

type Balance = NonNullable<RouteData<'balance'>['balance']>
type Group = NonNullable<Balance['lists'][string]>[number]

/** An order of a balance. */
export const OrderLink = ({ source, external_id }: { source: string; external_id: string }) => (
  <a href={linkToOrder(source, external_id)}>
    <Name>{visible(`${source} ${external_id}`)}</Name>
  </a>
)

const Line = ({ count, children }: { count: number; children: ComponentChildren }) => (
  <>
    <span class="tally">{decimal(count)}</span> {children}
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
            <OrderLink source={source} external_id={external_id} /> {id && <Id value={visible(id)} />}
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
  duplicate: t('nothing was left to do'),
  rejected: t('rejected'),
  withdrawn: t('withdrawn'),
}

const Part = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="card">
    <h3>{title}</h3>
    {children}
  </section>
)

const UNDELIVERED = [
  ['waiting', t('waiting')],
  ['inFlight', t('being received or waiting for a retry')],
  ['dead', t('dead letters')],
  ['deleted', t('deleted in this period')],
] as const

/** What the audit has counted. @param period the period of the linked list of deliveries */
export const Numbers = ({
  deliveries,
  lists,
  left,
  undelivered,
  since,
  until,
  period,
}: Balance & { period: string }) => {
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
                <a href={linkTo(['deliveries'], { since: period, outcome: name.split(':')[0] })}>
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
            {undelivered.map(({ source, ...counts }) => (
              <li key={source}>
                <a href={linkTo(['stores', source])}>
                  <Name>{visible(source)}</Name>
                </a>
                {UNDELIVERED.map(
                  ([state, text]) =>
                    counts[state] > 0 && (
                      <p key={state}>
                        <Line count={counts[state]}>{text}</Line>
                      </p>
                    ),
                )}
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
