import { addDays, beginningOf } from '@order-relay/web/calendar.ts'
import { today } from '@order-relay/web/date-input.tsx'
import { ask } from '@order-relay/web/dialog.tsx'
import { decimal, formatMilliseconds } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { listed } from '@order-relay/web/language.ts'
import { attempt } from '@order-relay/web/notices.ts'
import {
  Ago,
  Button,
  type Column,
  Command,
  Facts,
  LinkButton,
  Moment,
  Section,
  Table,
} from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { useSignal } from '@preact/signals'
import { act, OVERVIEW, type RouteData, reads } from './api.ts'
import { Conformance } from './conformance.tsx'
import { FEED_CHANGES, retryStore } from './feed-pieces.tsx'
import { type Finding, Findings, Remedy } from './findings.tsx'
import { t } from './persian.ts'
import { Job, Message, ROW_OF_STORE, ShownOnce } from './pieces.tsx'
import { ForDeveloper } from './store-developer.tsx'
import { Keys } from './store-keys.tsx'
import { WooShop } from './store-shop.tsx'

type Store = RouteData<'stores'>['stores'][number]
type Shop = RouteData<'store'>

const STORES = reads('stores', {}, 'queues', 'resends', 'parameters', ...FEED_CHANGES)

const FeedName = ({ feed, exact }: Store) => (
  <>
    {feed.kind === 'sqs' && t('SQS queue')}
    {feed.kind === 'http' && <Id value={feed.url} />}
    {feed.kind === 'http' && !feed.secret && <> ({t('without a secret')})</>}
    {feed.kind === 'self' &&
      (feed.url === undefined ? t('HTTP, no URL registered by the store') : <Id value={feed.url} />)}
    {exact && <> ({t('exact')})</>}
  </>
)

const LastError = ({ at, message }: NonNullable<Store['error']>) => (
  <span class="breaks">
    <Ago iso={at} />: <Message text={message} />
  </span>
)

type Letters = Pick<Store, 'source' | 'dead_letters' | 'more_dead_letters'>

/** The number of a store's dead letters, with a link to them. */
const DeadLetters = ({ source, dead_letters: count, more_dead_letters: more }: Letters) => {
  if (count === undefined) return null
  if (count === 0 && !more) return <>{decimal(count)}</>
  return <a href={linkTo(['dead'], { source })}>{more ? t('{count} or more', { count }) : decimal(count)}</a>
}

const COLUMNS: Column<Store>[] = [
  ROW_OF_STORE,
  { label: t('Feed'), cell: store => <FeedName {...store} /> },
  { label: t('Messages waiting'), kind: 'number', cell: ({ waiting }) => decimal(waiting) },
  {
    label: t('Dead letters'),
    kind: 'number',
    cell: store => <DeadLetters {...store} />,
  },
  { label: t('Keys'), kind: 'number', cell: ({ keys }) => decimal(keys.length) },
  { label: t('Last error'), cell: ({ error }) => error && <LastError {...error} /> },
]

const isUnauthorized = ({ check }: Finding) =>
  typeof check !== 'string' && check.code.startsWith('unauthorized')

const isOfFile = ({ check }: Finding) => typeof check !== 'string' && check.code === 'stores-file'

const isIgnored = ({ check }: Finding) =>
  typeof check !== 'string' && (check.code === 'are-ignored' || check.code === 'were-ignored')

/** The errors of stores.yml, webhooks ignored while stores.yml did not have their store, requests of stores that were refused because of their key, and keys that expire soon. */
const ofStores = (
  { notices }: RouteData<'overview'>,
  { notices: expiring }: RouteData<'stores'>,
): Finding[] => [
  ...notices.filter(each => isOfFile(each) || isIgnored(each) || isUnauthorized(each)),
  ...expiring,
]

/** All notices about a store. The overview has only the expiring keys that are in use. */
const ofStore = (
  source: string | undefined,
  { notices }: RouteData<'overview'>,
  { notices: expiring }: RouteData<'stores'>,
): Finding[] => {
  const others = notices.filter(({ check }) => typeof check === 'string' || check.code !== 'store-key')
  return [...others, ...expiring].filter(each => isOf(source, each))
}

const isOf = (source: string | undefined, { check }: Finding) =>
  typeof check !== 'string' && check.values.source === source

export const Stores = page(
  { title: () => t('Stores'), reads: () => ({ known: STORES, overview: OVERVIEW }) },
  ({ known, known: { stores, hours, reference }, overview }) => (
    <>
      <PageHead>{reference && <LinkButton href={reference}>{t('API reference')}</LinkButton>}</PageHead>
      <p class="small muted note">
        {overview.notices.some(isOfFile)
          ? t('All stores in the last valid stores.yml, with endpoint errors of the last {hours} hours.', {
              hours,
            })
          : t('All stores in stores.yml, with endpoint errors of the last {hours} hours.', { hours })}
      </p>
      <div class="note">
        <Findings findings={ofStores(overview, known)} />
      </div>
      <Table columns={COLUMNS} rows={stores} keyOf={({ source }) => source} />
    </>
  ),
)

type Tested = RouteData<'stores/test'>

/** The response of a store's endpoint to a test event. */
const TestResponse = ({ url, accepted, failure = '', milliseconds, status, answer, remedy }: Tested) => (
  <div class="card note" role="status">
    {accepted ? (
      <p>{t('The endpoint accepted the event in {time}.', { time: formatMilliseconds(milliseconds) })}</p>
    ) : (
      <Message text={failure} as="p" kind="breaks" />
    )}
    <Facts
      facts={{
        [t('Address')]: <Id value={url} />,
        [t('Duration')]: formatMilliseconds(milliseconds),
        [t('Status')]: status,
      }}
    />
    {answer !== '' && <Command text={answer} />}
    {remedy && <Message text={remedy} as="p" kind="breaks remedy" />}
    {remedy && <Remedy remedy={remedy} />}
  </div>
)

const askResend = (source: string) =>
  ask({
    title: t('Resend the orders of {source}', { source }),
    text: t(
      'The worker publishes the current state of every order changed since then, each with a new version, fifty per second. The accounting service is not called.',
    ),
    fields: [
      {
        name: 'since',
        label: t('Changed since'),
        kind: 'date',
        value: addDays(today(), -1),
      },
    ],
    action: t('Resend'),
    submit: ({ date }) => act('stores/resend', { source, since: beginningOf(date('since')) }),
  })

type DetailsProps = Store & {
  shop: Shop
  woo: RouteData<'shop'>['shop']
  retry: RouteData<'feeds/retries'>['job'] | undefined
  /** Seconds. */
  age: number | undefined
}

const Details = ({ shop, woo, retry, age, ...store }: DetailsProps) => {
  const { source, exact, feed, queue, waiting, error, resend } = store
  const secret = useSignal<string | undefined>(undefined)
  const tested = useSignal<Tested | undefined>(undefined)
  const sendTest = () =>
    attempt(async () => {
      tested.value = await act('stores/test', { source })
    })
  const createSecret = () =>
    ask({
      title: t('New secret for {source}', { source }),
      text:
        feed.kind === 'http' && feed.secret
          ? t(
              'It signs the messages within a minute; the previous one remains in use for a day. A secret that was replaced earlier stops signing.',
            )
          : t(
              'The store has no secret yet, so its messages wait. Attempts are signed with the new one within 15 seconds; then retry the messages that wait.',
            ),
      action: t('Create secret'),
      submit: async () => {
        secret.value = (await act('stores/secret', { source })).secret
      },
    })
  return (
    <>
      <Section
        id="feed"
        title={t('Feed')}
        aside={
          <span class="row">
            {feed.kind !== 'sqs' && !exact && <Button onClick={sendTest}>{t('Send a test event')}</Button>}
            {feed.kind === 'http' && <Button onClick={createSecret}>{t('New secret')}</Button>}
            {feed.kind !== 'sqs' && waiting > 0 && (
              <Button onClick={() => retryStore(source)}>{t('Retry all now')}</Button>
            )}
            <Button onClick={() => askResend(source)}>{t('Resend orders')}</Button>
          </span>
        }
      >
        {tested.value && <TestResponse {...tested.value} />}
        {resend && <Job job={resend} stop={() => act('stores/resend-stop', { source })} />}
        {retry && <Job job={retry} stop={() => act('feeds/retry-stop', { source })} />}
        {secret.value && (
          <ShownOnce text={secret.value}>
            {t('This secret is shown only once. The store verifies its messages with it.')}
          </ShownOnce>
        )}
        <Facts
          facts={{
            [t('Feed')]: <FeedName {...store} />,
            [t('Registered by the store')]: feed.kind === 'self' && feed.since && <Moment iso={feed.since} />,
            [t('Messages')]: exact && t('Only order.updated, as the service sends it'),
            [t('Queue')]: <Id value={queue} />,
            [t('Messages waiting')]: decimal(waiting),
            [t('Of these, being received or waiting for a retry')]: decimal(shop.queue.in_flight),
            [t('Oldest message')]: age !== undefined && formatMilliseconds(age * 1000),
            [t('Attempts')]: feed.kind !== 'sqs' && (
              <a href={linkTo(['feeds'], { source, since: '24h' })}>{t('of the last day')}</a>
            ),
            [t('Consumers')]: shop.feed.consumers && listed(shop.feed.consumers),
            [t('Dead letters')]: shop.feed.dead_letters !== undefined && (
              <DeadLetters source={source} {...shop.feed} />
            ),
            [t('Dead letters after')]: shop.feed.dead_letter_after,
            [t('Last error')]: error && <LastError {...error} />,
          }}
        />
      </Section>
      {woo && <WooShop {...woo} />}
      <Keys source={source} keys={shop.keys} />
      <ForDeveloper {...shop} />
      <Conformance source={source} />
    </>
  )
}

export const Store = page(
  {
    title: ({ path: [, source = ''] }) => source,
    reads: ({ path: [, source] }) => ({
      known: STORES,
      shop: reads('store', { source }, 'queues', 'parameters'),
      woo: reads('shop', { source }),
      retries: reads('feeds/retries', { source }, 'retries'),
      overview: OVERVIEW,
    }),
  },
  ({ known, shop, woo, retries, overview, route: { path } }) => {
    const store = known.stores.find(({ source }) => source === path[1])
    return (
      <>
        <PageHead />
        <Findings findings={ofStore(path[1], overview, known)} />
        {store && (
          <Details
            key={store.source}
            shop={shop}
            woo={woo.shop}
            retry={retries.job}
            {...store}
            age={overview.ages?.[`feed ${store.source}`]}
          />
        )}
      </>
    )
  },
)
