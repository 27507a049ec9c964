import { decimal } from '@order-relay/web/format.ts'
import { queryOf, request } from '@order-relay/web/http.ts'
import { Name } from '@order-relay/web/pieces.tsx'
import { route } from '@order-relay/web/route.ts'
import type { SchemaData } from './api.ts'
import { DAYS, filterOf, KINDS, TYPES } from './document-sums.tsx'
import { t } from './persian.ts'
import { usePrinted } from './printed.ts'
import { chosen, Period, SheetHead } from './sheet-head.tsx'

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

type HeadProps = SchemaData<'AccountList'> & {
  seller: SchemaData<'Seller'>
  /** The number of documents on paper, if there are more. */
  shown: number | undefined
}

/** The head of the printed list of documents. */
export const DocumentsHead = ({ accounts, seller, shown }: HeadProps) => {
  const { kind, type, account, q, days, from, to } = filterOf(route.value)
  const names = [
    ...accounts.map(({ code, name }) => [code, name] as const),
    ['none', t('None selected')] as const,
  ]
  return (
    <SheetHead
      title={t('List of documents')}
      seller={seller}
      facts={{
        [t('Days')]: <Period from={from} to={to} />,
        [t('Date basis')]: chosen(days ?? '', DAYS) || DAYS[0][1],
        [t('Kind')]: chosen(kind, KINDS),
        [t('Booked as')]: chosen(type, TYPES),
        [t('Account')]: chosen(account, names),
        [t('Search')]: q && <Name>{q}</Name>,
      }}
      part={
        shown !== undefined &&
        t('This printout has only {count} documents of the list. The sums cover the whole list.', {
          count: decimal(shown),
        })
      }
    />
  )
}
