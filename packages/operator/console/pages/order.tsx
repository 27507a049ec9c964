import { visible } from '@order-relay/lib/platform/visible.ts'
import { decimal, formatMilliseconds, serial } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { translateMessage } from '@order-relay/web/messages.ts'
import { Button, Code, Facts, Happened, Moment, Name, Section, type Tone } from '@order-relay/web/pieces.tsx'
import { linkTo, type Route } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { StatusChip } from '@order-relay/web/status.tsx'
import { useSignal } from '@preact/signals'
import { ORDER_CHANGES, type RouteData, reads } from './api.ts'
import { FEED_CHANGES, FeedState, linkToFeed, RetryButton, StoreRemoved } from './feed-pieces.tsx'
import { fieldName } from './fields.tsx'
import { Lines } from './log.tsx'
import { ActionButton, resend, WithdrawalState } from './order-actions.tsx'
import { CheckState, check, MissedWebhooks } from './order-check.tsx'
import { Attempts, NAMES, nameIn, RequestChip, Waiting } from './order-pieces.tsx'
import { CODES } from './outcomes.ts'
import { t } from './persian.ts'
import { linkToMessage, Message } from './pieces.tsx'
import { RequestContent } from './request-content.tsx'
import { totalText } from './total.ts'

type Data = RouteData<'order'>
type Entry = Data['entries'][number]
type Key = { source: string; external_id: string }

const keyOf = ({ path: [, source = '', external_id = ''] }: Route): Key => ({ source, external_id })

const OUTCOMES: Readonly<Record<string, string>> = {
  result: t('answered'),
  refused: t('refused'),
  'unknown order': t('order unknown'),
  unanswered: t('no response'),
  'not served': t('not served'),
}

const Call = ({ call: { to, outcome, status, code, ms } }: { call: Entry['calls'][number] }) => (
  <li>
    {t('Call to the service: {call}', { call: nameIn(NAMES, to) })}:{' '}
    {nameIn(OUTCOMES, outcome === 'unanswered' && status !== undefined ? 'result' : outcome)}{' '}
    {status && serial(status)} {code !== undefined && (CODES[code] ?? <Code>{visible(code)}</Code>)} (
    {formatMilliseconds(ms)})
  </li>
)

const toneOf = ({ calls, requests, status }: Entry): Tone | undefined => {
  if (calls.some(({ outcome }) => outcome === 'unanswered' || outcome === 'not served')) return 'bad'
  if (requests.some(({ state }) => state === 'rejected')) return 'bad'
  return status === 'needs_review' ? 'wait' : undefined
}

const DELIVERED = 'order.updated'

const Change = ({ entry, feed }: { entry: Entry; feed: Data['feed'] }) => {
  const { at, event, delivery, bulk, calls, published, requests, version, cut } = entry
  const isEmpty = [calls, published, requests].every(({ length }) => length === 0)
  return (
    <Happened what={nameIn(NAMES, event)} at={at} tone={toneOf(entry)}>
      <p class="row">
        <StatusChip status={entry.status} />
        {requests.map(request => (
          <RequestChip key={request.id} {...request} />
        ))}
      </p>
      <ul class="small muted">
        {bulk !== undefined && <li>{t('Moved to the bulk queue')}</li>}
        {bulk === undefined && isEmpty && <li>{t('No change')}</li>}
        {calls.map((call, index) => (
          <Call key={String(index)} call={call} />
        ))}
        {published.map(message => (
          <li key={message.delivery}>
            {t('Message to the store: {event}, version {version}', {
              event: <Code>{message.event}</Code>,
              version: serial(version),
            })}{' '}
            {feed.messages
              .filter(({ delivery }) => delivery === message.delivery)
              .map(each => (
                <FeedState key={each.delivery} {...each} />
              ))}
          </li>
        ))}
        {cut && <li>{t('… and more, beyond the limit of the history')}</li>}
        <li>
          {event === DELIVERED ? (
            <Id value={delivery} href={linkTo(['deliveries', delivery])} />
          ) : (
            <Id value={delivery} />
          )}
        </li>
      </ul>
    </Happened>
  )
}

const Timeline = ({ source, external_id, entries, complete, feed }: Data) => (
  <Section
    id="history"
    title={t('History')}
    aside={<a href={linkToFeed({ source, external_id })}>{t('Messages to the store')}</a>}
  >
    <ol class="timeline">
      {entries.map(entry => (
        <Change key={entry.at} entry={entry} feed={feed} />
      ))}
    </ol>
    {!complete && <p class="muted">{t('Earlier changes are not in the history.')}</p>}
    <p class="small muted note">{t('Changes are kept as long as the order, deliveries for thirty days.')}</p>
  </Section>
)

const Requests = ({ requests, ...order }: Data) => (
  <Section id="requests" title={t('Requests')}>
    {requests.some(({ kind }) => kind === 'withdrawal') && (
      <p class="small muted note">
        {t('A withdrawal is from the store, or from an operator on its behalf.')}
      </p>
    )}
    {requests.length === 0 ? (
      <p class="muted">{t('None: the order came from the accounting service.')}</p>
    ) : (
      <ul class="card list">
        {requests.map(({ id, kind, state, of, reason, refused_at, ...more }) => (
          <li key={id}>
            <RequestChip kind={kind} state={state} />
            <p class="small muted">
              <Id value={id} />
            </p>
            {of !== undefined && <p class="muted">{t('of: {kind}', { kind: nameIn(NAMES, of) })}</p>}
            {reason !== undefined && (
              <p class="breaks">
                {serial(reason.status)} <Message text={reason.message} />
              </p>
            )}
            {refused_at !== undefined && (
              <p class="small muted">
                {t('first refused {when}', {
                  when: <Moment iso={new Date(refused_at * 1000).toISOString()} />,
                })}
              </p>
            )}
            <RequestContent request={{ kind, ...more }} order={order} />
          </li>
        ))}
      </ul>
    )}
  </Section>
)

/** Amounts are strings of digits; numbers are those of documents. */
const shown = (value: unknown) =>
  translateMessage(visible(typeof value === 'string' ? decimal(value) : JSON.stringify(value)))

/** Why there is no result, by what is known of the create. */
const NO_RESULT: Readonly<Record<string, string>> = {
  unsent: t('None yet. The create is still to be sent.'),
  'being withdrawn': t('None yet. The create is withdrawn unless the service has already registered it.'),
  unanswered: t('None yet. The create returned no result, and the service may have registered the order.'),
  known: t('None yet. The service knows the order, which will be read from it.'),
  refused: t('None. The service refused the create.'),
  rejected: t('None. The service refused the create.'),
  withdrawn: t('None. The create was withdrawn before the service registered the order.'),
}

const Result = ({ result, create, version, updated_at, doubt, failing }: Data) => (
  <Section id="result" title={t('Last result of the service')}>
    <div class="card made">
      <Facts
        facts={{
          [t('Result')]: result === undefined && (NO_RESULT[create ?? ''] ?? t('None yet.')),
          ...Object.fromEntries(
            Object.entries(result ?? {})
              .filter(
                ([name, value]) => !['source', 'external_id', 'status'].includes(name) && value !== null,
              )
              .map(([name, value]) => [fieldName(name), <Name key={name}>{shown(value)}</Name>]),
          ),
          [t('Version of the feed')]: serial(version),
          [t('Last change')]: updated_at && <Moment iso={updated_at} />,
          // Otherwise, "Why it waits" has the reason and the time of the read.
          [t('In doubt')]:
            failing !== undefined &&
            doubt !== false &&
            t('It may be out of date and will be read from the service.'),
        }}
      />
    </div>
  </Section>
)

const Log = (key: Key) => {
  const isOpen = useSignal(false)
  return (
    <Section id="log" title={t('Log')}>
      {isOpen.value ? (
        <Lines since="24h" source={key.source} order={key.external_id} />
      ) : (
        <Button
          onClick={() => {
            isOpen.value = true
          }}
        >
          {t('Show the lines of the last day')}
        </Button>
      )}
    </Section>
  )
}

/** The messages to the store without those that an action of "Why it waits" replays. */
const retriedHere = ({ feed, why }: Data) =>
  feed.messages.filter(
    ({ state, delivery }) => state !== 'dead' || why.links.every(({ id }) => id !== delivery),
  )

/** Whether a message waits to be sent to the store. */
const isWaiting = ({ messages }: Data['feed']) =>
  messages.some(({ state }) => state === 'failing' || state === 'unsent' || state === 'queued')

/** The parts of an order whose changes are announced. The worker also saves fields that the page does not show. */
const announced = ({ status, version, requests, why }: Data) =>
  JSON.stringify([
    status,
    version,
    requests.map(({ id, state }) => [id, state]),
    why.links.map(({ what, reason }) => [what, typeof reason === 'string' ? reason : reason.code]),
  ])

/** An order: why it waits, its history, its requests, its result, and its log. */
export const Order = page(
  {
    title: route => t('Order {order}', { order: visible(keyOf(route).external_id) }),
    reads: route => ({ order: reads('order', keyOf(route), ...ORDER_CHANGES, ...FEED_CHANGES, 'messages') }),
    announce: ({ order: before }, { order }) =>
      announced(before) === announced(order) ? undefined : t('The order has changed.'),
  },
  ({ order }) => (
    <>
      <PageHead>
        <StatusChip status={order.status} />
        {order.total != null && <span class="strong">{totalText(order.total)}</span>}
        <span class="small muted">
          <Name>{visible(order.source)}</Name>
        </span>
        <span class="row">
          {order.why.links.length === 0 && (
            <Button kind="small" onClick={() => check(order)}>
              {t('Check now')}
            </Button>
          )}
          <RetryButton order={order} messages={retriedHere(order)} />
          {order.version > 0 && order.feed.feed !== 'removed' && (
            <Button kind="small" onClick={() => resend(order)}>
              {t('Resend to the store')}
            </Button>
          )}
        </span>
      </PageHead>
      <StoreRemoved feed={order.feed.feed} />
      <WithdrawalState {...order} />
      <CheckState source={order.source} external_id={order.external_id} />
      <MissedWebhooks source={order.source} external_id={order.external_id} updated_at={order.updated_at} />
      {order.quarantined.ids.map(id => (
        <p key={id} class="row note">
          {t('As of {time}, the quarantine contained an unprocessed message about this order:', {
            time: <Moment iso={String(order.quarantined.as_of)} />,
          })}{' '}
          <Id value={id} href={linkToMessage({ command: 'quarantine', id })} />
        </p>
      ))}
      {order.done_letters.map(id => (
        <p key={id} class="row note">
          {t('A dead letter of this order is already done, and can be deleted:')}{' '}
          <Id value={id} href={linkToMessage({ command: 'dead', id })} />
        </p>
      ))}
      {order.why.confirms && (
        <Section id="waiting" title={isWaiting(order.feed) ? t('Result') : t('Nothing waits')}>
          <Message text={order.why.confirms} as="p" kind="muted breaks" />
        </Section>
      )}
      {order.why.links.length > 0 && (
        <Waiting why={order.why} buttonOf={action => <ActionButton {...action} order={order} />} />
      )}
      {order.failing !== undefined && <Attempts failing={order.failing} />}
      <div class="columns order">
        <div>
          <Requests {...order} />
          <Result {...order} />
        </div>
        <Timeline {...order} />
      </div>
      <Log source={order.source} external_id={order.external_id} />
    </>
  ),
)
