import { ask, type FieldProps } from '../../web/form.tsx'
import { decimal } from '../../web/format.ts'
import {
  Ago,
  Button,
  Code,
  type Column,
  Empty,
  Facts,
  Moment,
  Name,
  Scrolls,
  Section,
  Table,
} from '../../web/pieces.tsx'
import { linkTo, type Route } from '../../web/route.ts'
import { PageHead, page } from '../../web/shell.tsx'
import { type Answer, act, reads } from './api.ts'
import { t } from './persian.ts'

type Plan = Answer<'plan'>
type Operation = Answer<'operations'>['operations'][number]

const commandOf = ({ path: [name] }: Route) => (name === 'quarantine' ? 'quarantine' : 'dead')

const TITLES = { dead: t('Dead letters'), quarantine: t('Quarantine') }
const ACTIONS = { replay: t('Replay'), discard: t('Delete') }
const OUTCOMES = {
  replayed: t('replayed'),
  discarded: t('deleted'),
  duplicate: t('deleted as duplicates'),
  unreadable: t('still unreadable'),
  foreign: t('of no store'),
  behind: t('behind another that is kept'),
  failed: t('failed again'),
}

const countsText = (counts: Operation['counts']) =>
  Object.entries(OUTCOMES)
    .flatMap(([outcome, text]) => (counts[outcome] ? [`${text} ${decimal(counts[outcome])}`] : []))
    .join(', ') || '–'

/** Buttons that make a plan for what is selected, and lead to it. */
const Planning = ({ route, selection }: { route: Route; selection: object }) => {
  const make = (action: keyof typeof ACTIONS) => async () => {
    const { plan } = await act('plans', { command: commandOf(route), action, ...selection })
    location.hash = linkTo([commandOf(route), 'plan', plan])
  }
  return (
    <p class="row">
      <Button onClick={make('replay')}>{t('Plan a replay')}</Button>
      <Button onClick={make('discard')}>{t('Plan a deletion')}</Button>
    </p>
  )
}

const HISTORY: Column<Operation>[] = [
  { label: t('When'), cell: ({ at }) => <Moment iso={at} /> },
  { label: t('By'), kind: 'breaks', cell: ({ by }) => <Code>{by}</Code> },
  { label: t('Action'), cell: ({ action }) => ACTIONS[action] },
  { label: t('Messages'), kind: 'breaks', cell: ({ name }) => <Code>{name}</Code> },
  { label: t('Result'), kind: 'breaks', cell: ({ counts }) => countsText(counts) },
  { label: t('Stopped'), kind: 'breaks', cell: ({ stopped }) => stopped && <Name>{stopped}</Name> },
  { label: t('Reason'), kind: 'breaks', cell: ({ reason }) => reason && <Name>{reason}</Name> },
]

/** How far the plan is that was started last. */
const Progress = ({ plan, counts, end }: NonNullable<Answer<'operation'>['operation']>) => {
  const done = Object.values(counts).reduce((sum, each) => sum + each, 0)
  return (
    <section class="card progress" aria-label={t('Progress')}>
      <a href={linkTo([plan.command, 'plan', plan.plan])}>
        {ACTIONS[plan.action]}: <Code>{plan.name}</Code>
      </a>
      <progress max={plan.messages.length} value={done} aria-label={t('Progress')} />
      <p role="status">
        {countsText(counts)}{' '}
        {end && end.missing > 0 && t('{count} were gone before.', { count: end.missing })}{' '}
        <Name>{end?.stopped}</Name>
      </p>
      {end === undefined && <Button onClick={() => act('break-off', {})}>{t('Break off')}</Button>}
      {end?.stopped && <Button onClick={() => confirm(plan)}>{t('Resume')}</Button>}
    </section>
  )
}

const FILTERS = ['group', 'source', 'event'] as const

/** A link that shows only the messages of this group, store or event. */
const only = (route: Route, name: (typeof FILTERS)[number], text: string | undefined, value = text) =>
  text !== undefined && (
    <a href={linkTo([commandOf(route)], { ...Object.fromEntries(route.query), [name]: value })}>
      <Name>{text}</Name>
    </a>
  )

const groupsIn = (route: Route): Column<Answer<'messages'>['groups'][number]>[] => [
  { label: t('Failure'), kind: 'breaks', cell: ({ group, failure }) => only(route, 'group', failure, group) },
  { label: t('Messages'), kind: 'number', cell: ({ count }) => decimal(count) },
  { label: t('First'), cell: ({ first }) => <Ago iso={first} /> },
  { label: t('Last'), cell: ({ last }) => <Ago iso={last} /> },
]

const messagesIn = (route: Route): Column<Answer<'messages'>['messages'][number]>[] => [
  {
    label: t('Message'),
    cell: ({ id, external_id }) => (
      <a href={linkTo([commandOf(route), 'message', id])}>
        <Code>{external_id ?? id}</Code>
      </a>
    ),
  },
  { label: t('Store'), cell: ({ source }) => only(route, 'source', source) },
  { label: t('Event'), cell: ({ event }) => only(route, 'event', event) },
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
    news: ({ progress: before }, { progress: after }) =>
      before.operation?.end === undefined && after.operation?.end ? t('The plan has ended.') : undefined,
  },
  ({ found: { at, hidden, groups, messages }, progress: { operation }, done: { operations }, route }) => {
    const selection = Object.fromEntries(route.query)
    const rows = messages.filter(message =>
      FILTERS.every(name => [undefined, message[name]].includes(selection[name])),
    )
    const again = () => act('messages/read', { command: commandOf(route) })
    return (
      <>
        <PageHead title={TITLES[commandOf(route)]}>
          <Button onClick={again}>{t('Read again')}</Button>
        </PageHead>
        {operation?.plan.command === commandOf(route) && <Progress {...operation} />}
        <p class="small muted note">
          {t('Read {ago}.', { ago: <Ago iso={at} /> })}{' '}
          {hidden > 0 &&
            t('{count} more are beyond 1,000, behind others of their order, or being read.', {
              count: hidden,
            })}
        </p>
        {messages.length === 0 ? (
          <Empty title={t('Nothing is here.')} />
        ) : (
          <>
            <Section id="groups" title={t('What failed')}>
              <Table
                caption={t('What failed')}
                columns={groupsIn(route)}
                rows={groups}
                keyOf={({ group }) => group}
              />
            </Section>
            <Section id="messages" title={t('Messages')} aside={<Planning {...{ route, selection }} />}>
              {route.query.size > 0 && (
                <p class="row note">
                  <Code>{Object.values(selection).join(' ')}</Code>
                  <a href={linkTo([commandOf(route)])}>{t('Show all')}</a>
                </p>
              )}
              <Table caption={t('Messages')} columns={messagesIn(route)} rows={rows} keyOf={({ id }) => id} />
            </Section>
          </>
        )}
        {operations.length > 0 && (
          <Section id="history" title={t('History')}>
            <Table caption={t('History')} columns={HISTORY} rows={operations} keyOf={({ at }) => at} />
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
      <PageHead title={t('Message')}>
        <Planning route={route} selection={{ id: about.id }} />
      </PageHead>
      <Facts
        facts={Object.fromEntries(
          Object.entries(about).map(([name, value]) => [name, value && <Code>{String(value)}</Code>]),
        )}
      />
      <div class="note">
        <Scrolls label={t('Body')}>
          <pre dir="ltr">{text}</pre>
        </Scrolls>
      </div>
    </>
  ),
)

const confirm = ({ plan, command, action, name }: Plan) => {
  const isDeletion = action === 'discard'
  const naming: FieldProps[] = isDeletion ? [{ name: 'name', label: t('Type {name}', { name }) }] : []
  ask({
    title: isDeletion ? t('Delete for good?') : t('Replay now?'),
    fields: [...naming, { name: 'reason', label: t('Reason, for the history') }],
    action: ACTIONS[action],
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
  { label: t('Message'), kind: 'breaks', cell: ({ id }) => <Code>{id}</Code> },
  {
    label: t('What happens'),
    kind: 'breaks',
    cell: ({ does }) => does.map(line => <p key={line}>{line}</p>),
  },
]

const PlanPage = page(
  { title: () => t('Plan'), reads: ({ path: [, , plan] }) => ({ plan: reads('plan', { plan }) }) },
  ({ plan }) => {
    const { create, payment, refund } = plan.calls
    return (
      <>
        <PageHead title={`${ACTIONS[plan.action]}: ${plan.name}`}>
          <p class="row">
            <Button onClick={() => save(plan)}>{t('Download the plan')}</Button>
            <Button kind="primary" onClick={() => confirm(plan)}>
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
        <Table caption={t('Plan')} columns={STEPS} rows={plan.messages} keyOf={({ id }) => id} />
      </>
    )
  },
)

/** Dead letters, or the quarantine: what failed, its messages, and plans to replay or delete them. */
export const Messages = ({ route }: { route: Route }) => {
  const View = { message: MessagePage, plan: PlanPage }[route.path[1] ?? ''] ?? List
  return <View route={route} />
}
