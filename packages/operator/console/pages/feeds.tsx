import { visible } from '@order-relay/lib/platform/visible.ts'
import { Body } from '@order-relay/web/body.tsx'
import { SearchBox } from '@order-relay/web/filters.tsx'
import { serial } from '@order-relay/web/format.ts'
import { messageOf } from '@order-relay/web/http.ts'
import { Id } from '@order-relay/web/id.tsx'
import {
  Code,
  type Column,
  Empty,
  Facts,
  LinkButton,
  Moment,
  Name,
  Section,
  Table,
} from '@order-relay/web/pieces.tsx'
import { useResources } from '@order-relay/web/resources.ts'
import { linkTo, type Route } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { useSignal } from '@preact/signals'
import { type RouteData, reads } from './api.ts'
import {
  FEED_CHANGES,
  FeedState,
  linkToFeed,
  OF_ATTEMPT,
  OUTCOMES,
  RetryButton,
  StoreRemoved,
} from './feed-pieces.tsx'
import { Findings } from './findings.tsx'
import { t } from './persian.ts'
import { ListFilters, linkToOrder, Message, OrderOfStore } from './pieces.tsx'

type Row = RouteData<'feeds'>['attempts'][number]

const COLUMNS: Column<Row>[] = [
  { label: t('Time'), kind: 'plain breaks', cell: ({ at }) => <Moment iso={at} /> },
  {
    label: t('Order'),
    kind: 'breaks',
    cell: ({ source, external_id }) =>
      external_id && <OrderOfStore source={source} external_id={external_id} />,
  },
  {
    label: t('Message'),
    cell: ({ source, external_id, delivery = '' }) =>
      external_id && (
        <Id value={visible(delivery)} href={linkToFeed({ source, external_id })} kind="row-link" />
      ),
  },
  ...OF_ATTEMPT,
]

const filterOf = ({ query }: Route) => ({
  since: query.get('since') ?? '1h',
  outcome: query.get('outcome'),
  source: query.get('source'),
  q: query.get('q'),
})

const Filters = () => (
  <div class="filters row" data-keeps-focus>
    <SearchBox label={t('Find an order or a message')} placeholder={t('Order number or message id')} />
    <ListFilters outcomes={OUTCOMES} />
  </div>
)

/** The attempts to deliver messages to HTTP feeds. */
export const Feeds = page(
  {
    title: () => t('Messages to stores'),
    reads: route => ({ list: reads('feeds', filterOf(route), ...FEED_CHANGES) }),
  },
  ({ list: { attempts, more, findings } }) => (
    <>
      <PageHead />
      <Filters />
      <p class="small muted note">
        {more
          ? t('The {count} newest attempts in the log.', { count: attempts.length })
          : t('Attempts in the log, newest first: {count}.', { count: attempts.length })}{' '}
        {t('A store with an SQS feed receives its messages from its queue.')}
      </p>
      <div class="note">
        <Findings findings={findings} />
      </div>
      <Table
        columns={COLUMNS}
        rows={attempts}
        keyOf={({ at, delivery, receives }) => `${at} ${delivery} ${receives}`}
      >
        <Empty title={t('No attempt matches')}>
          <LinkButton href={linkTo(['feeds'], { since: '7d' })}>{t('Show all of the last week')}</LinkButton>
        </Empty>
      </Table>
    </>
  ),
)

const ATTEMPTS: Column<RouteData<'feed'>['messages'][number]['attempts'][number]>[] = [
  { label: t('Time'), kind: 'plain', cell: ({ at }) => <Moment iso={at} /> },
  ...OF_ATTEMPT,
]

type Key = { source: string; external_id: string; delivery: string }

/** The body of a message, and the names of its headers or message attributes. */
const Content = (key: Key) => {
  const { data, error } = useResources({ content: reads('feed/message', key) })
  if (data === undefined)
    return <p class="muted">{error === undefined ? t('Reading…') : <Message text={messageOf(error)} />}</p>
  const { body, is_original, ...named } = data.content
  const [label, names] =
    'headers' in named
      ? [t('Names of the headers'), named.headers]
      : [t('Names of the message attributes'), named.attributes]
  return (
    <div class="card made">
      {!is_original && (
        <p class="muted">
          {t(
            'As it would be sent now: the order has changed since, or its history does not show which requests the message reported.',
          )}
        </p>
      )}
      <Facts facts={{ [label]: names.length > 0 && <Code>{names.join(', ')}</Code> }} />
      <Body label={t('Body')} text={body} visible={visible} />
    </div>
  )
}

const ContentOf = (key: Key) => {
  const isOpen = useSignal(false)
  return (
    <details
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open
      }}
    >
      <summary>{t('Content')}</summary>
      {isOpen.value && <Content {...key} />}
    </details>
  )
}

/** The messages of an order to its store, with the attempts to deliver them. */
export const Feed = page(
  {
    title: ({ path: [, , external_id = ''] }) =>
      t('Messages of order {order}', { order: visible(external_id) }),
    reads: ({ path: [, source = '', external_id = ''] }) => ({
      feed: reads('feed', { source, external_id }, ...FEED_CHANGES),
    }),
  },
  ({ feed: { source, external_id, feed, messages, complete } }) => (
    <>
      <PageHead>
        <span class="small muted">
          <Name>{visible(source)}</Name>
        </span>
        <span class="row">
          <RetryButton order={{ source, external_id }} messages={messages} />
          <LinkButton href={linkToOrder(source, external_id)}>{t('Show the order')}</LinkButton>
        </span>
      </PageHead>
      <StoreRemoved feed={feed} />
      {messages.map(message => (
        <Section
          key={message.delivery}
          id={message.delivery}
          title={t('{event}, version {version}', { event: message.event, version: serial(message.version) })}
        >
          <p>
            <FeedState {...message} />
          </p>
          <p class="small muted">
            <Id value={message.delivery} />
          </p>
          <ContentOf source={source} external_id={external_id} delivery={message.delivery} />
          {message.attempts.length > 0 && (
            <Table
              columns={ATTEMPTS}
              rows={message.attempts}
              keyOf={({ at, receives }) => `${at} ${receives}`}
            />
          )}
        </Section>
      ))}
      {messages.length === 0 && <Empty title={t('No message was sent to the store.')} />}
      {!complete && <p class="muted">{t('Earlier attempts are not shown.')}</p>}
      <p class="small muted note">{t('Attempts are kept for thirty days.')}</p>
    </>
  ),
)
