import { visible } from '@order-relay/lib/platform/visible.ts'
import { ask } from '@order-relay/web/dialog.tsx'
import type { FieldProps } from '@order-relay/web/form.tsx'
import { decimal } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { listed } from '@order-relay/web/language.ts'
import { translateMessage } from '@order-relay/web/messages.ts'
import { attempt } from '@order-relay/web/notices.ts'
import { Button, Code, type Column, Moment, Name, Table } from '@order-relay/web/pieces.tsx'
import { linkTo, type Route } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { StatusChip } from '@order-relay/web/status.tsx'
import type { TargetedEvent } from 'preact'
import { useRef } from 'preact/hooks'
import { act, type RouteData, reads } from './api.ts'
import { NAMES, nameIn, RequestChip } from './order-pieces.tsx'
import { t } from './persian.ts'
import { Ended, linkToOrder, Message } from './pieces.tsx'

export type Plan = RouteData<'plan'>
type Operation = RouteData<'operations'>['operations'][number]

export const commandOf = ({ path: [name] }: Route) => (name === 'quarantine' ? 'quarantine' : 'dead')

const ACTIONS = { replay: t('Replay'), discard: t('Delete') }
const TONES = { replay: undefined, discard: 'bad' } as const
const OUTCOMES = {
  replayed: t('replayed'),
  discarded: t('deleted'),
  duplicate: t('deleted as duplicates'),
  unreadable: t('still unreadable'),
  quarantined: t('moved to the quarantine as unreadable'),
  foreign: t('of an unknown store'),
  behind: t('behind another kept message'),
  failed: t('failed again'),
}

const countsText = (counts: Operation['counts']) =>
  listed(
    Object.entries(OUTCOMES).flatMap(([outcome, text]) =>
      counts[outcome] ? [`${text} ${decimal(counts[outcome])}`] : [],
    ),
  ) || '–'

/** Opens a plan once it is made. */
const show = (command: Plan['command'], made: Promise<{ plan: string }>) =>
  attempt(async () => {
    location.hash = linkTo([command, 'plan', (await made).plan])
  })

type Selection = Omit<Parameters<typeof act<'plans'>>[1], 'command' | 'action'>

/** Makes a plan for the selection and opens it. */
export const plan = (command: Plan['command'], action: keyof typeof ACTIONS, selection: Selection) =>
  show(command, act('plans', { command, action, ...selection }))

/** Buttons that make a plan for the selection; `count` is the number of messages if they are chosen individually. */
export const Planning = ({
  route,
  selection,
  count = 0,
}: {
  route: Route
  selection: Selection
  count?: number
}) => {
  const command = commandOf(route)
  return (
    <>
      <Button onClick={() => plan(command, 'replay', selection)}>
        {count > 0 ? t('Plan a replay of {count}', { count }) : t('Plan a replay')}
      </Button>
      <Button onClick={() => plan(command, 'discard', selection)}>
        {count > 0 ? t('Plan a deletion of {count}', { count }) : t('Plan a deletion')}
      </Button>
    </>
  )
}

/** The messages of a plan or past operation, in words. */
const Named = ({ name, failure }: Pick<Operation, 'name' | 'failure'>) => {
  if (failure !== undefined) return <Message text={failure} />
  if (/^all( \d+)?$/.test(name)) return t('All messages')
  if (/^ids( \d+)?$/.test(name)) return t('Selected individually')
  // Filters, or the id of a message.
  return name.includes('=') ? <Code>{visible(name)}</Code> : <Id value={visible(name)} />
}

/** Opens a plan that was downloaded or that the command wrote. */
export const OpenPlan = ({ command }: Pick<Plan, 'command'>) => {
  const input = useRef<HTMLInputElement>(null)
  const open = async ({ currentTarget }: TargetedEvent<HTMLInputElement>) => {
    const [file] = currentTarget.files ?? []
    if (file !== undefined)
      await show(
        command,
        file.text().then(text => act('plans/open', { command, file: text })),
      )
    // Allows choosing the same file again.
    currentTarget.value = ''
  }
  return (
    <>
      <input ref={input} type="file" accept=".json" aria-label={t('Open a plan…')} hidden onChange={open} />
      <Button onClick={() => input.current?.click()}>{t('Open a plan…')}</Button>
    </>
  )
}

/** The event of a message. Messages of a feed have the event that the store receives. */
export const EventName = ({ from, event }: { from?: string | undefined; event?: string | undefined }) => {
  if (event === undefined) return null
  if (from !== 'feed') return nameIn(NAMES, visible(event))
  return t('Message to the store: {event}', { event: <Code>{visible(event)}</Code> })
}

export const HISTORY: Column<Operation>[] = [
  { label: t('When'), cell: ({ at }) => <Moment iso={at} /> },
  { label: t('By'), kind: 'breaks', cell: ({ by }) => <Code>{by}</Code> },
  {
    label: t('Action'),
    cell: ({ action }) => (action === 'replay' || action === 'discard') && ACTIONS[action],
  },
  { label: t('Messages'), kind: 'breaks', cell: operation => <Named {...operation} /> },
  { label: t('Result'), kind: 'breaks', cell: ({ counts }) => countsText(counts) },
  {
    label: t('Stopped'),
    kind: 'breaks sentences',
    cell: ({ stopped }) => stopped && <Message text={stopped} />,
  },
  { label: t('Reason'), kind: 'breaks sentences', cell: ({ reason }) => reason && <Name>{reason}</Name> },
]

const headingOf = ({ action, messages: { length: count } }: Plan) =>
  action === 'replay'
    ? t('Replay of {count} {count|message|messages}', { count })
    : t('Deletion of {count} {count|message|messages}', { count })

/** The progress of the most recently started plan. */
export const Progress = ({
  plan,
  counts,
  missing,
  end,
}: NonNullable<RouteData<'operation'>['operation']>) => {
  const done = Object.values(counts).reduce((sum, each) => sum + each, 0)
  return (
    <section class="card progress" aria-label={t('Progress')}>
      <a href={linkTo([plan.command, 'plan', plan.plan])}>
        {headingOf(plan)} (<Named {...plan} />)
      </a>
      <progress max={plan.messages.length} value={done} aria-label={t('Progress')} />
      <p role="status">
        {countsText(counts)} {missing > 0 && t('{count} {count|was|were} already gone.', { count: missing })}{' '}
        <Message text={end?.failure} />
      </p>
      {end === undefined ? (
        <Button onClick={() => act('break-off', {})}>{t('Stop the plan')}</Button>
      ) : (
        <Ended at={end.at} />
      )}
      {end?.failure && <Button onClick={() => confirm(plan)}>{t('Resume')}</Button>}
    </section>
  )
}

const confirm = ({ plan, command, action, messages: { length: count } }: Plan) => {
  const isDeletion = action === 'discard'
  const naming: FieldProps[] = isDeletion
    ? [{ name: 'count', kind: 'number', label: t('Number of messages: type {count}', { count }) }]
    : []
  ask({
    title: isDeletion ? t('Delete permanently?') : t('Replay now?'),
    fields: [...naming, { name: 'reason', label: t('Reason, for the history') }],
    action: ACTIONS[action],
    tone: TONES[action],
    submit: async values => {
      const confirmed = isDeletion ? { count: values.count('count') } : {}
      await act('carry-out', { plan, reason: values.text('reason'), ...confirmed })
      location.hash = linkTo([command])
    },
  })
}

const save = (plan: Plan) => {
  const href = URL.createObjectURL(new Blob([JSON.stringify(plan, null, 2)], { type: 'application/json' }))
  Object.assign(document.createElement('a'), { href, download: `${plan.command}-${plan.plan}.json` }).click()
  URL.revokeObjectURL(href)
}

type Step = Plan['messages'][number]
type Change = NonNullable<Step['predicted']>['changes'][number]

const isState = (field: string) => field === 'status'

/** A value of the order's result before or after the replay. */
const Value = ({ field, value }: { field: string; value: string | undefined }) => {
  if (isState(field)) return <StatusChip status={value} />
  return value === undefined ? t('none') : <Name>{translateMessage(visible(decimal(value)))}</Name>
}

const Difference = ({ of, field, before, after }: Change) => (
  <li>
    {of === 'result' ? (
      <>
        {translateMessage(field)}: <Value {...{ field, value: before }} /> <span class="arrow">→</span>{' '}
        <Value {...{ field, value: after }} />
      </>
    ) : (
      <>
        {before !== undefined && (
          <>
            <RequestChip kind={field} state={before} /> <span class="arrow">→</span>{' '}
          </>
        )}
        <RequestChip kind={field} state={after ?? ''} />
      </>
    )}
  </li>
)

/** The predicted effects of a message: calls, changes of the order, and messages to the store. */
const Effect = ({ does, predicted }: Step) => {
  if (predicted === undefined) return does.map(line => <Message key={line} text={line} as="p" />)
  const { calls, changes, publishes, unknown } = predicted
  return (
    <ul>
      {calls.map(({ to, outcome }, index) => (
        <li key={String(index)}>
          {t('Call to the service: {call}', { call: nameIn(NAMES, to) })}: <Message text={outcome} />
        </li>
      ))}
      {changes.map(change => (
        <Difference key={`${change.of} ${change.field} ${change.after}`} {...change} />
      ))}
      {publishes.map(({ event, status }, index) => (
        <li key={String(index)}>
          {t('Message to the store: {event}', { event: <Code>{event}</Code> })}{' '}
          {status !== undefined && <StatusChip status={status} />}
        </li>
      ))}
      {unknown !== undefined && (
        <li>
          {t('The rest cannot be predicted:')} <Message text={unknown} />
        </li>
      )}
      {calls.length + changes.length + publishes.length === 0 && unknown === undefined && (
        <li>{t('Nothing: no call, no change, no message.')}</li>
      )}
    </ul>
  )
}

const STEPS: Column<Step>[] = [
  {
    label: t('Order'),
    kind: 'breaks',
    cell: ({ id, source, external_id }) =>
      source !== undefined && external_id !== undefined ? (
        <>
          <a href={linkToOrder(source, external_id)}>
            <Name>{visible(external_id)}</Name>
          </a>{' '}
          <span class="small muted">
            <Name>{visible(source)}</Name>
          </span>
        </>
      ) : (
        <Id value={id} />
      ),
  },
  { label: t('Event'), cell: message => <EventName {...message} /> },
  { label: t('Effect'), kind: 'breaks sentences', cell: step => <Effect {...step} /> },
]

/** Maximum number of a plan's messages shown; the file has all of them. */
const SHOWN = 200

export const PlanPage = page(
  { title: () => t('Plan'), reads: ({ path: [, , plan] }) => ({ plan: reads('plan', { plan }) }) },
  ({ plan }) => {
    const { create, payment, refund } = plan.calls
    const more = plan.messages.length - SHOWN
    return (
      <>
        <PageHead title={headingOf(plan)}>
          <p class="row">
            <Button onClick={() => save(plan)}>{t('Download the plan')}</Button>
            <Button kind="primary" tone={TONES[plan.action]} onClick={() => confirm(plan)}>
              {ACTIONS[plan.action]}
            </Button>
          </p>
        </PageHead>
        <p class="strong">
          <Named {...plan} />
        </p>
        {plan.action === 'replay' && (
          <p class="note">
            {t('Calls to the service: create {create}, payment {payment}, refund {refund}', {
              create,
              payment,
              refund,
            })}
          </p>
        )}
        <Table columns={STEPS} rows={plan.messages.slice(0, SHOWN)} keyOf={({ id }) => id} />
        {more > 0 && <p class="note">{t('and {count} more', { count: more })}</p>}
      </>
    )
  },
)
