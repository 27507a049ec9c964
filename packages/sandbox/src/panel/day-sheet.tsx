import { today } from '@order-relay/web/date-input.tsx'
import { decimal } from '@order-relay/web/format.ts'
import { queryOf, request } from '@order-relay/web/http.ts'
import { Day, Facts, Name } from '@order-relay/web/pieces.tsx'
import { route } from '@order-relay/web/route.ts'
import type { SchemaData } from './api.ts'
import { DAYS, filterOf, KINDS, TYPES } from './document-sums.tsx'
import { t } from './persian.ts'
import { usePrinted } from './printed.ts'

type DocumentList = SchemaData<'DocumentList'>

const PRINTED_AT_MOST = 1000

/** All documents of the filter, up to the most that are printed. */
const readSheet = async (): Promise<DocumentList> => {
  const documents: DocumentList['documents'] = []
  let before: string | null = null
  for (;;) {
    const query = queryOf({ ...filterOf(route.value), before, limit: PRINTED_AT_MOST / 2 })
    const page: DocumentList = await request('GET', `/panel/documents${query}`)
    documents.push(...page.documents)
    before = page.next
    if (before === null || documents.length >= PRINTED_AT_MOST) return { ...page, documents }
  }
}

/** Prints the documents of all pages. They replace the page in the list until they are printed. */
export const useSheet = () => {
  const sheet = usePrinted<DocumentList>()
  const print = async () => {
    sheet.value = await readSheet()
  }
  return { sheet: sheet.value, print }
}

const Period = ({ from, to }: { from: string | undefined; to: string | undefined }) => {
  if (from && from === to) return <Day date={from} />
  if (from && to) return t('{from} to {to}', { from: <Day date={from} />, to: <Day date={to} /> })
  if (from) return t('From {day}', { day: <Day date={from} /> })
  return to ? t('Until {day}', { day: <Day date={to} /> }) : t('All days')
}

/** The name of a filter's value, if one is chosen. */
const chosen = (value: string | undefined, options: readonly (readonly [value: string, name: string])[]) =>
  value && (options.find(([each]) => each === value)?.[1] ?? value)

type HeadProps = SchemaData<'AccountList'> & {
  seller: SchemaData<'Seller'>
  /** The number of documents on paper, if there are more. */
  shown: number | undefined
}

/** What a printed list says about itself: title, seller, days and filter. Only in print. */
export const SheetHead = ({ accounts, seller, shown }: HeadProps) => {
  const { kind, type, account, q, days, from, to } = filterOf(route.value)
  const names = [
    ...accounts.map(({ code, name }) => [code, name] as const),
    ['none', t('None selected')] as const,
  ]
  return (
    <div class="sheet-head">
      <p class="strong">{t('List of documents')}</p>
      <Facts
        facts={{
          [t('Seller')]: seller.name && <Name>{seller.name}</Name>,
          [t('Days')]: <Period from={from} to={to} />,
          [t('Date basis')]: chosen(days ?? '', DAYS) || DAYS[0][1],
          [t('Kind')]: chosen(kind, KINDS),
          [t('Booked as')]: chosen(type, TYPES),
          [t('Account')]: chosen(account, names),
          [t('Search')]: q && <Name>{q}</Name>,
          [t('Printed on')]: <Day date={today()} />,
        }}
      />
      {shown !== undefined && (
        <p class="strong">
          {t('These are only {count} documents of this list. The sums are those of all of them.', {
            count: decimal(shown),
          })}
        </p>
      )}
    </div>
  )
}
