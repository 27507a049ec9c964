import { Id } from '@order-relay/web/id.tsx'
import { Ago, Chip, isToCome, Moment, Section, type Tone, Wait } from '@order-relay/web/pieces.tsx'
import type { ComponentChildren } from 'preact'
import type { RouteData } from './api.ts'
import { t } from './persian.ts'
import { Message, textOf } from './pieces.tsx'

/** The name of a known value; unknown values of the service are shown as they are. */
export const nameIn = (names: Readonly<Record<string, string>>, word: string) => names[word] ?? word

/** Names of events, requests, and the links of a chain of waiting. */
export const NAMES: Readonly<Record<string, string>> = {
  create: t('Create'),
  payment: t('Payment'),
  refund: t('Refund'),
  withdrawal: t('Withdrawal'),
  read: t('Read'),
  invoice: t('Invoice'),
  order: t('Order'),
  result: t('Result'),
  'message to the store': t('Message to the store'),
  'order.updated': t('Webhook'),
  'order.create': t('Create'),
  'order.payment': t('Payment'),
  'order.refund': t('Refund'),
  'order.withdraw': t('Withdrawal'),
  'order.check': t('Check'),
  'order.resend': t('Resend'),
}

const STATES: Readonly<Record<string, readonly [name: string, tone: Tone]>> = {
  waiting: [t('waiting'), 'wait'],
  held: [t('held by the service'), 'wait'],
  registered: [t('registered'), 'good'],
  duplicate: [t('nothing was left to do'), 'undone'],
  rejected: [t('refused'), 'bad'],
  withdrawn: [t('withdrawn'), 'undone'],
}

type Request = { kind: string; state: string }

export const RequestChip = ({ kind, state }: Request) => {
  const [name, tone] = STATES[state] ?? [state, 'undone']
  return (
    <Chip tone={tone}>
      {nameIn(NAMES, kind)}
      {state === 'duplicate' && ':'} {name}
    </Chip>
  )
}

/** Whether a create has ended without a result from the service. */
export const isEnded = (create: RouteData<'order'>['create']) =>
  create === 'withdrawn' || create === 'rejected'

export const OpenRequests = ({ requests }: { requests: readonly Request[] }) => (
  <ul>
    {requests.map((request, index) => (
      <li key={String(index)}>
        <RequestChip {...request} />
      </li>
    ))}
  </ul>
)

type Link = RouteData<'order'>['why']['links'][number]

const FOR: Record<Link['for'], readonly [text: string, tone: Tone]> = {
  accountant: [t('the accountant'), 'wait'],
  service: [t('the accounting service'), 'bad'],
  'service key': [t('an API key that the service accepts'), 'bad'],
  attempt: [t('its next attempt'), 'wait'],
  relay: [t('AWS, or a fix for a defect'), 'bad'],
  operator: [t('an operator'), 'bad'],
  store: [t('the store'), 'bad'],
  'bulk queue': [t('its turn in the bulk queue'), 'open'],
  check: [t('the next check'), 'open'],
  worker: [t('the worker'), 'open'],
  create: [t('its create'), 'wait'],
  'earlier event': [t('an earlier event'), 'wait'],
  'later event': [t('a later event'), 'wait'],
}

/** What an item waits for, and why, in short. */
export const WaitsFor = ({ link: { for: whom, reason } }: { link: Link }) => (
  <span title={textOf(reason)}>
    <span class="strong">{FOR[whom][0]}</span>
    <span class="small muted">
      {': '}
      <Message text={reason} />
    </span>
  </span>
)

const Next = ({ at }: { at: string }) =>
  isToCome(at) ? (
    <span>{t('next attempt {when} at the latest', { when: <Wait until={at} /> })}</span>
  ) : (
    <span>{t('next attempt now')}</span>
  )

const Step = ({ link, position }: { link: Link; position: number }) => {
  const { what, id, since, next, others = 0 } = link
  const [whom, tone] = FOR[link.for]
  return (
    <li data-tone={tone}>
      <p>
        <strong>
          {t('{position}. {what}: waits for {whom}', { position, what: nameIn(NAMES, what), whom })}
        </strong>
      </p>
      <Message text={link.reason} as="p" kind="muted breaks" />
      <p class="row small muted">
        {since !== undefined && <Ago iso={since} />}
        {next !== undefined && <Next at={next} />}
        {others > 0 && (
          <span>
            {t('{count} other {count|request shares|requests share} its outcome', { count: others })}
          </span>
        )}
        {id !== undefined && <Id value={id} />}
      </p>
    </li>
  )
}

/** Why the order waits: the blocking event, the events behind it, and the effect of each action. */
export const Waiting = ({
  why: { links, actions },
  buttonOf,
}: Pick<RouteData<'order'>, 'why'> & {
  buttonOf: (action: RouteData<'order'>['why']['actions'][number]) => ComponentChildren
}) => (
  <Section id="waiting" title={t('Why it waits')}>
    <ol class="timeline chain">
      {links.map((link, index) => (
        <Step key={String(index)} link={link} position={index + 1} />
      ))}
    </ol>
    <dl class="facts card made">
      {actions.map(action => (
        <div key={`${action.action} ${action.of}`}>
          <dt>{buttonOf(action)}</dt>
          <Message text={action.effect} as="dd" />
        </div>
      ))}
    </dl>
  </Section>
)

/** When a failing event is retried, and how often it was tried. */
export const Attempts = ({ failing }: { failing: NonNullable<RouteData<'order'>['failing']> }) => (
  <p class="small muted">
    {t('{count} {count|attempt|attempts}, the last one {when}', {
      count: failing.receives,
      when: <Moment iso={failing.at} />,
    })}
  </p>
)
