import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { ask } from '../../web/form.tsx'
import { decimal, formatMilliseconds } from '../../web/format.ts'
import { messageOf } from '../../web/http.ts'
import { translateMessage } from '../../web/messages.ts'
import { toast } from '../../web/notices.ts'
import {
  Ago,
  Button,
  buttons,
  Code,
  type Column,
  Command,
  Empty,
  Facts,
  Moment,
  Name,
  Section,
  Table,
} from '../../web/pieces.tsx'
import { linkTo } from '../../web/route.ts'
import { PageHead, page } from '../../web/shell.tsx'
import { type Answer, act, reads } from './api.ts'
import { t } from './persian.ts'

type Store = Answer<'stores'>['stores'][number]
type Key = Store['keys'][number]

const STORES = reads('stores', {}, 'queues', 'resends', 'feed message retried', 'feed message delivered')

const FeedName = ({ feed }: Store) => (
  <>
    {feed.kind === 'sqs' && t('SQS queue')}
    {feed.kind === 'http' && <Code>{feed.url}</Code>}
    {feed.kind === 'http' && !feed.secret && <> ({t('without a secret')})</>}
  </>
)

const LastError = ({ at, message }: NonNullable<Store['error']>) => (
  <span class="breaks">
    <Ago iso={at} />: <Name>{translateMessage(message)}</Name>
  </span>
)

const COLUMNS: Column<Store>[] = [
  {
    label: t('Store'),
    cell: ({ source }) => (
      <a class="row-link" href={linkTo(['stores', source])}>
        <Name>{source}</Name>
      </a>
    ),
  },
  { label: t('Feed'), kind: 'breaks', cell: store => <FeedName {...store} /> },
  { label: t('Messages waiting'), kind: 'number', cell: ({ waiting }) => decimal(waiting) },
  { label: t('Keys'), kind: 'number', cell: ({ keys }) => decimal(keys.length) },
  { label: t('Last error'), cell: ({ error }) => error && <LastError {...error} /> },
]

export const Stores = page(
  { title: () => t('Stores'), reads: () => ({ known: STORES }) },
  ({ known: { stores, hours, reference } }) => (
    <>
      <PageHead title={t('Stores')}>
        {reference && (
          <a class="button" href={reference}>
            {t('API reference')}
          </a>
        )}
      </PageHead>
      <p class="small muted note">
        {t('Every store of stores.yml. Errors of endpoints are those of the last {hours} hours.', { hours })}
      </p>
      <Table caption={t('Stores')} columns={COLUMNS} rows={stores} keyOf={({ source }) => source} />
    </>
  ),
)

const sendTest = async (source: string) => {
  try {
    const { accepted, failure, milliseconds } = await act('stores/test', { source })
    const time = formatMilliseconds(milliseconds)
    toast(
      accepted ? t('The endpoint accepted it in {time}.', { time }) : translateMessage(String(failure)),
      accepted ? undefined : 'bad',
    )
  } catch (error) {
    toast(messageOf(error), 'bad')
  }
}

const revoke = (source: string, { id }: Key) =>
  ask({
    title: t('Revoke key {id}', { id }),
    text: t('It stops working within a minute, and cannot be restored.'),
    action: t('Revoke'),
    tone: 'bad',
    submit: async () => {
      await act('stores/revoke', { source, id })
      toast(t('Revoked; it stops working within a minute.'))
    },
  })

const keyColumns = (source: string): Column<Key>[] => [
  { label: t('Id'), cell: ({ id }) => <Code>{id}</Code> },
  { label: t('Created'), cell: ({ since }) => <Moment iso={since} /> },
  buttons<Key>(
    t('Revoke'),
    ({ id }) => t('Revoke key {id}', { id }),
    key => revoke(source, key),
  ),
]

const DAY_MS = 24 * 60 * 60 * 1000

const askResend = (source: string) =>
  ask({
    title: t('Resend the orders of {source}', { source }),
    text: t(
      'The worker publishes the present state of every order that has changed since then, each with its next version, fifty a second. The accounting service is not called.',
    ),
    fields: [
      {
        name: 'since',
        label: t('Changed since'),
        kind: 'date',
        value: new Date(Date.now() - DAY_MS).toISOString().slice(0, 10),
      },
    ],
    action: t('Resend'),
    submit: ({ date }) => act('stores/resend', { source, since: date('since') }),
  })

const Resent = ({ source, resend }: { source: string; resend: NonNullable<Store['resend']> }) => {
  const { sent, total, state, failure } = resend
  return (
    <p class="row" role="status" data-tone={failure === undefined ? undefined : 'bad'}>
      <progress value={sent} max={Math.max(1, total)} aria-label={t('Resending')} />
      {t('{sent} of {total} orders passed to the worker', { sent, total })}
      {state === 'running' && (
        <Button kind="small" onClick={() => act('stores/resend-stop', { source })}>
          {t('Stop')}
        </Button>
      )}
      {failure !== undefined && <Name>{translateMessage(failure)}</Name>}
    </p>
  )
}

/** What is shown once. */
const Shown = ({ text, children }: { text: string; children: ComponentChildren }) => (
  <div class="card made" role="status">
    <p>{children}</p>
    <Command text={text} />
  </div>
)

const Details = (store: Store) => {
  const { source, feed, queue, waiting, keys, error, resend } = store
  const made = useSignal<Answer<'stores/key'> | undefined>(undefined)
  const secret = useSignal<string | undefined>(undefined)
  const create = () =>
    ask({
      title: t('New key for {source}', { source }),
      text: t('It is shown once; only its hash is stored.'),
      fields: [{ name: 'readOnly', label: t('Can only read orders'), kind: 'switch' }],
      action: t('Create key'),
      submit: async ({ isOn }) => {
        made.value = await act('stores/key', { source, readOnly: isOn('readOnly') })
      },
    })
  const createSecret = () =>
    ask({
      title: t('New secret for {source}', { source }),
      text: t('It signs the messages within a minute; the previous one remains in use for a day.'),
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
            {feed.kind === 'http' && (
              <>
                <Button onClick={() => sendTest(source)}>{t('Send a test event')}</Button>
                <Button onClick={createSecret}>{t('New secret')}</Button>
              </>
            )}
            <Button onClick={() => askResend(source)}>{t('Resend orders')}</Button>
          </span>
        }
      >
        {resend && <Resent {...{ source, resend }} />}
        {secret.value && (
          <Shown text={secret.value}>
            {t('This secret is shown only once. The store verifies its messages with it.')}
          </Shown>
        )}
        <Facts
          facts={{
            [t('Feed')]: <FeedName {...store} />,
            [t('Queue')]: <Code>{queue}</Code>,
            [t('Messages waiting')]: decimal(waiting),
            [t('Last error')]: error && <LastError {...error} />,
          }}
        />
      </Section>
      <Section
        id="keys"
        title={t('Keys of the API')}
        aside={<Button onClick={create}>{t('New key')}</Button>}
      >
        {made.value && (
          <Shown text={made.value.key}>
            {t('This key is shown only once. The store sends it to {api} as {header}.', {
              api: `${made.value.api}/api/v1/orders/`,
              header: <Code>{'Authorization: Bearer <key>'}</Code>,
            })}
          </Shown>
        )}
        {keys.length === 0 ? (
          <Empty title={t('No key: the store cannot use the API.')} />
        ) : (
          <Table
            caption={t('Keys of the API')}
            columns={keyColumns(source)}
            rows={keys}
            keyOf={({ id }) => id}
          />
        )}
      </Section>
    </>
  )
}

export const Store = page(
  { title: ({ path: [, source = ''] }) => source, reads: () => ({ known: STORES }) },
  ({ known: { stores }, route: { path } }) => {
    const store = stores.find(({ source }) => source === path[1])
    return (
      <>
        <PageHead title={path[1] ?? ''} />
        {store ? (
          <Details key={store.source} {...store} />
        ) : (
          <Empty title={t('stores.yml has no such store')} />
        )}
      </>
    )
  },
)
