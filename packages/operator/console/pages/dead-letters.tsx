import { visible } from '@order-relay/lib/platform/visible.ts'
import { Choice, parameter } from '@order-relay/web/filters.tsx'
import { decimal, serial } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import {
  Ago,
  Button,
  buttons,
  Chip,
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
import { type Signal, useSignal } from '@preact/signals'
import { act, type RouteData, reads } from './api.ts'
import { linkToFeed } from './feed-pieces.tsx'
import { Fields } from './fields.tsx'
import { NAMES, nameIn } from './order-pieces.tsx'
import { t } from './persian.ts'
import { linkToMessage, linkToOrder, Message, PERIODS, textOf } from './pieces.tsx'
import { PlanPage } from './plan-page.tsx'
import { commandOf, EventName, HISTORY, OpenPlan, type Plan, Planning, Progress, plan } from './plans.tsx'

const TITLES = { dead: t('Dead letters'), quarantine: t('Quarantine') }
const EMPTY = {
  dead: t('Events and messages that failed too often are moved here. Replay them once the cause is fixed.'),
  quarantine: t('Authentic webhooks that cannot be read are kept here. Replay them once they can be read.'),
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

type Group = RouteData<'messages'>['groups'][number]

const PLANNED = { replay: t('Replay…'), discard: t('Delete…') }

const groupsIn = (command: Plan['command']): Column<Group>[] => [
  { label: t('Failure'), kind: 'breaks', cell: ({ group, failure }) => only('group', failure, group) },
  { label: t('Messages'), kind: 'number', cell: ({ count }) => decimal(count) },
  { label: t('First'), cell: ({ first }) => <Ago iso={first} /> },
  { label: t('Last'), cell: ({ last }) => <Ago iso={last} /> },
  buttons(
    ...(['replay', 'discard'] as const).map(
      action =>
        [
          PLANNED[action],
          ({ failure = '' }: Group) => `${PLANNED[action]} ${textOf(failure)}`,
          ({ group }: Group) => plan(command, action, { group }),
        ] as [string, (row: Group) => string, (row: Group) => void],
    ),
  ),
]

/** Why a message failed. */
const Cause = ({ cause, error, source, external_id, is_http, superseded_by }: Row) => (
  <>
    <Message text={cause} />{' '}
    {error === undefined && is_http && source !== undefined && external_id !== undefined && (
      <a href={linkToFeed({ source, external_id })}>{t('Show the attempts')}</a>
    )}{' '}
    {superseded_by !== undefined && (
      <Chip tone="undone">{t('superseded by version {version}', { version: serial(superseded_by) })}</Chip>
    )}
  </>
)

type Chosen = Signal<ReadonlySet<string>>

const choose = (chosen: Chosen, ids: readonly string[], isChosen: boolean) => {
  const others = [...chosen.value].filter(id => !ids.includes(id))
  chosen.value = new Set(isChosen ? [...others, ...ids] : others)
}

const messagesIn = (command: Plan['command'], chosen: Chosen): Column<Row>[] => [
  {
    label: t('Order'),
    kind: 'breaks',
    cell: ({ id, source, external_id }) => (
      <span class="pick">
        <input
          type="checkbox"
          aria-label={t('Choose {name}', { name: visible(external_id ?? id) })}
          checked={chosen.value.has(id)}
          onChange={event => choose(chosen, [id], event.currentTarget.checked)}
        />
        {external_id === undefined ? (
          <Id value={id} />
        ) : source === undefined ? (
          <Code>{visible(external_id)}</Code>
        ) : (
          <a href={linkToOrder(source, external_id)}>
            <Name>{visible(external_id)}</Name>
          </a>
        )}
      </span>
    ),
  },
  { label: t('Store'), kind: 'cell-store', cell: ({ source }) => only('source', source) },
  {
    label: t('Event'),
    cell: message =>
      message.event !== undefined && (
        <a href={linkWith({ event: message.event })}>
          <EventName {...message} />
        </a>
      ),
  },
  {
    label: t('Cause'),
    kind: 'breaks sentences',
    cell: message => <Cause {...message} />,
  },
  { label: t('Since'), cell: ({ at }) => <Ago iso={at} /> },
  { label: t('Deleted by SQS'), cell: ({ deleted_at }) => <Moment iso={deleted_at} /> },
  {
    label: t('Message'),
    cell: ({ id, external_id }) => (
      <a
        href={linkToMessage({ command, id })}
        class="row-link"
        aria-label={t('Show the message of {name}', { name: visible(external_id ?? id) })}
      >
        {t('Show')}
      </a>
    ),
  },
]

const List = page(
  {
    title: route => TITLES[commandOf(route)],
    reads: route => ({
      found: reads('messages', { command: commandOf(route) }, 'messages', 'queues'),
      progress: reads('operation', {}, 'operation'),
      done: reads('operations', { command: commandOf(route) }, 'messages'),
    }),
    announce: ({ progress: before }, { progress: after }) =>
      before.operation?.end === undefined && after.operation?.end ? t('The plan has ended.') : undefined,
  },
  ({ found: { at, hidden, groups, messages }, progress: { operation }, done: { operations }, route }) => {
    const command = commandOf(route)
    const chosen = useSignal<ReadonlySet<string>>(new Set())
    const filters = Object.fromEntries(route.query)
    const rows = messages.filter(message => isSelected(route, message))
    const ids = rows.map(({ id }) => id).filter(id => chosen.value.has(id))
    const named = {
      group: groups.find(({ group }) => group === filters.group)?.failure,
      source: filters.source,
      event: filters.event && nameIn(NAMES, filters.event),
      order: filters.order,
    }
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
              <Table columns={groupsIn(command)} rows={groups} keyOf={({ group }) => group} />
            </Section>
            <Section
              id="messages"
              title={t('Messages')}
              aside={
                <span class="filters row">
                  <Choice
                    label={t('Period')}
                    {...parameter('since')}
                    options={[['', t('Any time')], ...PERIODS]}
                  />
                  <Button
                    onClick={() =>
                      choose(
                        chosen,
                        rows.map(({ id }) => id),
                        ids.length === 0,
                      )
                    }
                  >
                    {ids.length === 0 ? t('Choose all') : t('Choose none')}
                  </Button>
                  <Planning
                    route={route}
                    selection={ids.length === 0 ? filters : { ids }}
                    count={ids.length}
                  />
                </span>
              }
            >
              {route.query.size > 0 && (
                <p class="row note">
                  {Object.entries(named).map(
                    ([name, text]) => text && <Message key={name} text={text} kind="strong" />,
                  )}
                  <a class="button small" href={linkTo([command])}>
                    {t('Show all')}
                  </a>
                </p>
              )}
              <Table columns={messagesIn(command, chosen)} rows={rows} keyOf={({ id }) => id}>
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
          <Planning route={route} selection={{ ids: [about.id] }} />
        </span>
      </PageHead>
      <Fields of={{ ...about, body: text }} />
    </>
  ),
)

/** Dead letters, or the quarantine: failures, messages, and plans to replay or delete them. */
export const Messages = ({ route }: { route: Route }) => {
  const View = { message: MessagePage, plan: PlanPage }[route.path[1] ?? ''] ?? List
  return <View route={route} />
}
