import { visible } from '@order-relay/lib/platform/visible.ts'
import { ask } from '@order-relay/web/dialog.tsx'
import type { FieldProps } from '@order-relay/web/form.tsx'
import { decimal } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { listed } from '@order-relay/web/language.ts'
import { attempt } from '@order-relay/web/notices.ts'
import { Button, Code, type Column, Moment, Name } from '@order-relay/web/pieces.tsx'
import { linkTo, type Route } from '@order-relay/web/route.ts'
import type { TargetedEvent } from 'preact'
import { useRef } from 'preact/hooks'
import { act, type RouteData } from './api.ts'
import { NAMES, nameIn } from './order-pieces.tsx'
import { t } from './persian.ts'
import { Ended, isOver, Message, textOf } from './pieces.tsx'

export type Plan = RouteData<'plan'>
type Operation = RouteData<'operations'>['operations'][number]

export const commandOf = ({ path: [name] }: Route) => (name === 'quarantine' ? 'quarantine' : 'dead')

export const ACTIONS = { replay: t('Replay'), discard: t('Delete') }
export const TONES = { replay: undefined, discard: 'bad' } as const
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
export const Named = ({ name, failure }: Pick<Operation, 'name' | 'failure'>) => {
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

export const headingOf = ({ action, messages: { length: count } }: Plan) =>
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
  if (isOver(end)) return null
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
        <Ended end={end} />
      )}
      {end?.failure && <Button onClick={() => confirm(plan)}>{t('Resume')}</Button>}
    </section>
  )
}

/** The effects of deleting messages, each once, with their numbers if they differ. */
const deletionsText = (messages: Plan['messages']) => {
  const isAlone = messages.length === 1
  const effects = messages.flatMap(({ deletion }) => {
    if (deletion === undefined) return []
    // This text names a single order.
    return deletion.code === 'discard/feed' && !isAlone
      ? [
          t(
            'The store does not receive the message. Afterwards, resend the order from the page of the order.',
          ),
        ]
      : [textOf(deletion)]
  })
  const groups = [...Map.groupBy(effects, text => text)]
  return groups
    .map(([text, { length: count }]) =>
      count === messages.length ? text : `${t('{count} {count|message|messages}:', { count })} ${text}`,
    )
    .join(' ')
}

export const confirm = ({ plan, command, action, messages }: Plan) => {
  const count = messages.length
  const isDeletion = action === 'discard'
  const naming: FieldProps[] = isDeletion
    ? [{ name: 'count', kind: 'number', label: t('Number of messages: type {count}', { count }) }]
    : []
  ask({
    title: isDeletion
      ? t('Delete permanently?')
      : t('Replay {count} {count|message|messages} now?', { count }),
    ...(isDeletion && { text: deletionsText(messages) }),
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
