import { visible } from '@order-relay/lib/platform/visible.ts'
import { Choice, parameter } from '@order-relay/web/filters.tsx'
import { ask, type FieldProps } from '@order-relay/web/form.tsx'
import { decimal } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { attempt } from '@order-relay/web/notices.ts'
import {
  Ago,
  Button,
  Code,
  type Column,
  Empty,
  LinkButton,
  Moment,
  Name,
  Section,
  Table,
} from '@order-relay/web/pieces.tsx'
import { linkTo, linkWith, type Route } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import type { TargetedEvent } from 'preact'
import { useRef } from 'preact/hooks'
import { act, type RouteData, reads } from './api.ts'
import { Fields } from './fields.tsx'
import { t } from './persian.ts'
import { linkToOrder, Message, OF_ORDER, PERIODS } from './pieces.tsx'

type Plan = RouteData<'plan'>
type Operation = RouteData<'operations'>['operations'][number]

const commandOf = ({ path: [name] }: Route) => (name === 'quarantine' ? 'quarantine' : 'dead')

const TITLES = { dead: t('Dead letters'), quarantine: t('Quarantine') }
const EMPTY = {
  dead: t('Events that keep failing for days are moved here. Replay them once the cause is fixed.'),
  quarantine: t('Authentic webhooks that cannot be read are kept here. Replay them once they can be read.'),
}
const ACTIONS = { replay: t('Replay'), discard: t('Delete') }
const TONES = { replay: undefined, discard: 'bad' } as const
const OUTCOMES = {
  replayed: t('replayed'),
  discarded: t('deleted'),
  duplicate: t('deleted as duplicates'),
  unreadable: t('still unreadable'),
  foreign: t('of an unknown store'),
  behind: t('behind another kept message'),
  failed: t('failed again'),
}

const countsText = (counts: Operation['counts']) =>
  Object.entries(OUTCOMES)
    .flatMap(([outcome, text]) => (counts[outcome] ? [`${text} ${decimal(counts[outcome])}`] : []))
    .join(', ') || '–'

/** Opens a plan once it exists. */
const show = (command: Plan['command'], made: Promise<{ plan: string }>) =>
  attempt(async () => {
    location.hash = linkTo([command, 'plan', (await made).plan])
  })

/** Buttons that create a plan for the selection and open it. */
const Planning = ({ route, selection }: { route: Route; selection: object }) => {
  const command = commandOf(route)
  const make = (action: keyof typeof ACTIONS) => () =>
    show(command, act('plans', { command, action, ...selection }))
  return (
    <>
      <Button onClick={make('replay')}>{t('Plan a replay')}</Button>
      <Button onClick={make('discard')}>{t('Plan a deletion')}</Button>
    </>
  )
}

/** Opens a plan that was downloaded, or written by the command. */
const OpenPlan = ({ command }: Pick<Plan, 'command'>) => {
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

const HISTORY: Column<Operation>[] = [
  { label: t('When'), cell: ({ at }) => <Moment iso={at} /> },
  { label: t('By'), kind: 'breaks', cell: ({ by }) => <Code>{by}</Code> },
  { label: t('Action'), cell: ({ action }) => action !== 'erase' && ACTIONS[action] },
  { label: t('Messages'), kind: 'breaks', cell: ({ name }) => <Code>{name}</Code> },
  { label: t('Result'), kind: 'breaks', cell: ({ counts }) => countsText(counts) },
  {
    label: t('Stopped'),
    kind: 'breaks sentences',
    cell: ({ stopped }) => stopped && <Message text={stopped} />,
  },
  { label: t('Reason'), kind: 'breaks sentences', cell: ({ reason }) => reason && <Name>{reason}</Name> },
]

/** The progress of the most recently started plan. */
const Progress = ({ plan, counts, missing, end }: NonNullable<RouteData<'operation'>['operation']>) => {
  const done = Object.values(counts).reduce((sum, each) => sum + each, 0)
  return (
    <section class="card progress" aria-label={t('Progress')}>
      <a href={linkTo([plan.command, 'plan', plan.plan])}>
        {ACTIONS[plan.action]}: <Code>{plan.name}</Code>
      </a>
      <progress max={plan.messages.length} value={done} aria-label={t('Progress')} />
      <p role="status">
        {countsText(counts)} {missing > 0 && t('{count} {count|was|were} already gone.', { count: missing })}{' '}
        <Message text={end?.failure} />
      </p>
      {end === undefined && <Button onClick={() => act('break-off', {})}>{t('Stop the plan')}</Button>}
      {end?.failure && <Button onClick={() => confirm(plan)}>{t('Resume')}</Button>}
    </section>
  )
}

type Row = RouteData<'messages'>['messages'][number]

/** The fields by which messages are selected, in addition to their age. */
const FILTERS = {
  group: ({ group }: Row) => group,
  source: ({ source }: Row) => source,
  event: ({ event }: Row) => event,
  order: ({ external_id }: Row) => external_id,
}

const HOURS: Readonly<Record<string, number>> = { '1h': 1, '24h': 24, '7d': 7 * 24 }
const HOUR_MS = 60 * 60 * 1000

const isSelected = ({ query }: Route, message: Row) =>
  Object.entries(FILTERS).every(([name, of]) => [null, of(message)].includes(query.get(name))) &&
  Date.parse(message.at) >=
    Date.now() - (HOURS[query.get('since') ?? ''] ?? Number.POSITIVE_INFINITY) * HOUR_MS

/** A link that shows only the messages of this group, store or event. */
const only = (name: keyof typeof FILTERS, text: string | undefined, value = text) =>
  value !== undefined && (
    <a href={linkWith({ [name]: value })}>
      <Message text={text} />
    </a>
  )

const GROUPS: Column<RouteData<'messages'>['groups'][number]>[] = [
  { label: t('Failure'), kind: 'breaks', cell: ({ group, failure }) => only('group', failure, group) },
  { label: t('Messages'), kind: 'number', cell: ({ count }) => decimal(count) },
  { label: t('First'), cell: ({ first }) => <Ago iso={first} /> },
  { label: t('Last'), cell: ({ last }) => <Ago iso={last} /> },
]

const messagesIn = (command: Plan['command']): Column<Row>[] => [
  {
    label: t('Message'),
    kind: 'breaks',
    cell: ({ id, external_id }) => (
      <Id
        value={visible(external_id ?? id)}
        href={linkTo([command, 'message', id])}
        kind="row-link"
        longest={24}
      />
    ),
  },
  { label: t('Store'), kind: 'cell-store', cell: ({ source }) => only('source', source) },
  { label: t('Event'), cell: ({ event }) => only('event', event) },
  { label: t('Since'), cell: ({ at }) => <Ago iso={at} /> },
  { label: t('Deleted by SQS'), cell: ({ deleted_at }) => <Moment iso={deleted_at} /> },
]

const List = page(
  {
    title: route => TITLES[commandOf(route)],
    reads: route => ({
      found: reads('messages', { command: commandOf(route) }, 'messages'),
      progress: reads('operation', {}, 'operation'),
      done: reads('operations', { command: commandOf(route) }, 'messages'),
    }),
    announce: ({ progress: before }, { progress: after }) =>
      before.operation?.end === undefined && after.operation?.end ? t('The plan has ended.') : undefined,
  },
  ({ found: { at, hidden, groups, messages }, progress: { operation }, done: { operations }, route }) => {
    const command = commandOf(route)
    const selection = Object.fromEntries(route.query)
    const rows = messages.filter(message => isSelected(route, message))
    return (
      <>
        <PageHead>
          <span class="row">
            <OpenPlan command={command} />
            <Button onClick={() => act('messages/read', { command })}>{t('Read again')}</Button>
          </span>
        </PageHead>
        {operation?.plan.command === command && <Progress {...operation} />}
        <p class="small muted note">
          {t('Last read: {ago}.', { ago: <Ago iso={at} /> })}{' '}
          {hidden > 0 &&
            t('{count} more {count|is|are} beyond 1,000, behind others of the same order, or being read.', {
              count: hidden,
            })}
        </p>
        {messages.length === 0 ? (
          <Empty title={t('Nothing here.')}>
            <p>{EMPTY[command]}</p>
          </Empty>
        ) : (
          <>
            <Section id="groups" title={t('What failed')}>
              <Table columns={GROUPS} rows={groups} keyOf={({ group }) => group} />
            </Section>
            <Section
              id="messages"
              title={t('Messages')}
              aside={
                <span class="filters row">
                  <Choice
                    {...{ label: t('Period'), ...parameter('since') }}
                    options={[['', t('Any time')], ...PERIODS]}
                  />
                  <Planning {...{ route, selection }} />
                </span>
              }
            >
              {route.query.size > 0 && (
                <p class="row note">
                  {Object.keys(FILTERS).map(
                    name => selection[name] && <Code key={name}>{visible(selection[name])}</Code>,
                  )}
                  <a class="button small" href={linkTo([command])}>
                    {t('Show all')}
                  </a>
                </p>
              )}
              <Table columns={messagesIn(command)} rows={rows} keyOf={({ id }) => id}>
                <Empty title={t('No message matches')}>
                  <LinkButton href={linkTo([command])}>{t('Show all')}</LinkButton>
                </Empty>
              </Table>
            </Section>
          </>
        )}
        {operations.length > 0 && (
          <Section id="history" title={t('History')}>
            <Table columns={HISTORY} rows={operations} keyOf={({ at }) => at} />
          </Section>
        )}
      </>
    )
  },
)

const MessagePage = page(
  {
    title: () => t('Message'),
    reads: route => ({ message: reads('message', { command: commandOf(route), id: route.path[2] }) }),
  },
  ({ message: { about, text }, route }) => (
    <>
      <PageHead>
        <span class="row">
          {about.source !== undefined && about.external_id !== undefined && (
            <LinkButton href={linkToOrder(about.source, about.external_id)}>{t('Show the order')}</LinkButton>
          )}
          <Planning route={route} selection={{ id: about.id }} />
        </span>
      </PageHead>
      <Fields of={{ ...about, body: text }} />
    </>
  ),
)

const confirm = ({ plan, command, action, name }: Plan) => {
  const isDeletion = action === 'discard'
  const naming: FieldProps[] = isDeletion ? [{ name: 'name', label: t('Type {name}', { name }) }] : []
  ask({
    title: isDeletion ? t('Delete permanently?') : t('Replay now?'),
    fields: [...naming, { name: 'reason', label: t('Reason, for the history') }],
    action: ACTIONS[action],
    tone: TONES[action],
    submit: async ({ text }) => {
      await act('carry-out', { plan, reason: text('reason'), name: text('name') })
      location.hash = linkTo([command])
    },
  })
}

const save = (plan: Plan) => {
  const href = URL.createObjectURL(new Blob([JSON.stringify(plan, null, 2)], { type: 'application/json' }))
  Object.assign(document.createElement('a'), { href, download: `${plan.command}-${plan.plan}.json` }).click()
  URL.revokeObjectURL(href)
}

const STEPS: Column<Plan['messages'][number]>[] = [
  { label: t('Message'), cell: ({ id }) => <Id value={id} /> },
  ...OF_ORDER,
  { label: t('Event'), cell: ({ event }) => event && <Code>{visible(event)}</Code> },
  {
    label: t('Effect'),
    kind: 'breaks sentences',
    cell: ({ does }) => does.map(line => <Message key={line} text={line} as="p" />),
  },
]

/** Maximum number of messages of a plan shown; its file has all. */
const SHOWN = 200

const PlanPage = page(
  { title: () => t('Plan'), reads: ({ path: [, , plan] }) => ({ plan: reads('plan', { plan }) }) },
  ({ plan }) => {
    const { create, payment, refund } = plan.calls
    const more = plan.messages.length - SHOWN
    return (
      <>
        <PageHead title={t('{action}: {name}', { action: ACTIONS[plan.action], name: visible(plan.name) })}>
          <p class="row">
            <Button onClick={() => save(plan)}>{t('Download the plan')}</Button>
            <Button kind="primary" tone={TONES[plan.action]} onClick={() => confirm(plan)}>
              {ACTIONS[plan.action]}
            </Button>
          </p>
        </PageHead>
        <p class="note">
          {t('Calls to the service: create {create}, payment {payment}, refund {refund}', {
            create,
            payment,
            refund,
          })}
        </p>
        <Table columns={STEPS} rows={plan.messages.slice(0, SHOWN)} keyOf={({ id }) => id} />
        {more > 0 && <p class="note">{t('and {count} more', { count: more })}</p>}
      </>
    )
  },
)

/** Dead letters, or the quarantine: failures, messages, and plans to replay or delete them. */
export const Messages = ({ route }: { route: Route }) => {
  const View = { message: MessagePage, plan: PlanPage }[route.path[1] ?? ''] ?? List
  return <View route={route} />
}
