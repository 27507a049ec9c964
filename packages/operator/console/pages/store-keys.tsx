import { beginningOf } from '@order-relay/web/calendar.ts'
import { ask } from '@order-relay/web/dialog.tsx'
import { decimal } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import {
  Button,
  buttons,
  Code,
  type Column,
  Empty,
  Hour,
  Moment,
  Name,
  Section,
  Table,
} from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { act, type RouteData } from './api.ts'
import { t } from './persian.ts'
import { ShownOnce } from './pieces.tsx'
import { askRevoke, changed } from './remedies.tsx'

type Key = RouteData<'store'>['keys'][number]

const KINDS = [
  ['full', t('All requests')],
  ['read-only', t('Can only read orders')],
  ['create-only', t('Can only create orders')],
] as const

const kindOf = (kind: string) => KINDS.find(([each]) => each === kind) ?? KINDS[0]

const keyColumns = (source: string): Column<Key>[] => [
  {
    label: t('Key'),
    kind: 'breaks sentences',
    cell: ({ id, name }) => (
      <>
        {name && (
          <>
            <Name>{name}</Name>
            <br />
          </>
        )}
        <Id value={id} longest={24} />
      </>
    ),
  },
  { label: t('Kind'), cell: ({ kind }) => kindOf(kind)[1] },
  { label: t('Created'), cell: ({ since }) => <Moment iso={since} /> },
  {
    label: t('Expires'),
    cell: ({ expires, expired }) => (
      <>
        {expires && <Moment iso={expires} />}
        {expired && <> ({t('expired')})</>}
      </>
    ),
  },
  { label: t('Last used'), kind: 'breaks', cell: ({ used }) => used && <Hour iso={used} /> },
  buttons<Key>([
    t('Revoke'),
    ({ id, name = id }) => t('Revoke key {id}', { id: name }),
    key => askRevoke(source, key),
  ]),
]

/** The key that was created last, until the page of its store is left. */
const made = signal<RouteData<'stores/key'> | undefined>(undefined)

const forget = () => {
  made.value = undefined
}

/** Creates a key, which only the page of the store shows. */
export const askNewKey = (source: string) =>
  ask({
    title: t('New key for {source}', { source }),
    text: t('It is shown once; only its hash is stored.'),
    fields: [
      { name: 'name', label: t('Name') },
      { name: 'kind', label: t('Kind'), options: KINDS },
      { name: 'expires', label: t('Expires'), kind: 'date', help: t('Without a date, it never expires.') },
    ],
    action: t('Create key'),
    submit: async ({ text, date }) => {
      made.value = await act('stores/key', {
        source,
        kind: kindOf(text('kind'))[0],
        name: text('name') || undefined,
        expires: text('expires') === '' ? undefined : beginningOf(date('expires')),
      })
      changed()
      location.hash = linkTo(['stores', source])
    },
  })

/** The keys with which a store uses the API. */
export const Keys = ({ source, keys }: { source: string; keys: readonly Key[] }) => {
  useEffect(() => forget, [])
  return (
    <Section
      id="keys"
      title={t('Keys of the API')}
      aside={<Button onClick={() => askNewKey(source)}>{t('New key')}</Button>}
    >
      {made.value?.source === source && (
        <ShownOnce text={made.value.key}>
          {t('This key is shown only once. The store sends it to {api} as {header}.', {
            api: `${made.value.api}/api/v1/orders/`,
            header: <Code>{'Authorization: Bearer <key>'}</Code>,
          })}{' '}
          {t('It works within {count} seconds.', { count: decimal(made.value.delay) })}
        </ShownOnce>
      )}
      <Table columns={keyColumns(source)} rows={keys} keyOf={({ id }) => id}>
        <Empty title={t('No key: the store cannot use the API.')} />
      </Table>
    </Section>
  )
}
