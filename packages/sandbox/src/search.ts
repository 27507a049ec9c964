import { latinDigits } from '@order-relay/web/calendar.ts'

/** Letters that NFKD keeps distinct although they are the same in Persian and Arabic. */
const SAME: Record<string, string> = { ي: 'ی', ى: 'ی', ك: 'ک', ة: 'ه', ە: 'ه', ھ: 'ه', ٱ: 'ا' }

/**
 * Text normalized for search: Arabic and Persian letters and digits unified, without hamza, diacritics, joiners and
 * direction marks, in lower case.
 */
export const normalized = (text: string): string =>
  latinDigits(text.normalize('NFKD'))
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[\p{M}\p{C}ـء]/gu, '')
    .replace(/[يىكةەھٱ]/g, letter => SAME[letter] ?? letter)

/** A total as it is indexed. Its digits are private characters, so that a number finds only the same total, not its parts. */
const totalLine = (digits: string) =>
  `=${digits.replace(/\d/g, digit => String.fromCharCode(0xe000 + Number(digit)))}\n`

const lines = (parts: readonly string[]) => [...parts.map(normalized), ''].join('\n')

type Searchable = {
  invoice_number: number
  total: string
  parts: readonly string[]
  references: readonly string[]
}

/**
 * The searchable texts of an order, one part per line. The references of its documents are separate: in a search for orders, a
 * reference finds the order; in a search for documents, it finds only its own document.
 */
export const searchable = ({ invoice_number, total, parts, references }: Searchable) => ({
  text: `${totalLine(total)}#${invoice_number}\n${lines(parts)}`,
  refs: lines(references),
})

/** Shorter parts of words are not in the trigram index. */
const INDEXED = 3

/** The documents that a number may follow, in English and Persian, also as printed. */
const NAMED = {
  '': '(?:sales )?invoice|فاکتور(?: فروش)?',
  receipt: 'receipt|رسید(?: دریافت)?',
  repayment: 'repayment|رسید پرداخت|عودت وجه',
  return: '(?:sales )?return|برگشت(?: از فروش)?',
}

/** What may precede a number; normalized, `№` is `no`. */
const NUMBER_SIGN = '(?:(?:number|no\\.?|شماره) )?#?'

/** Words without a meaning of their own next to a number: an order number or an amount is found without them. */
const AROUND_NUMBERS = [
  RegExp(`(?<!\\S)(?:order|سفارش) ${NUMBER_SIGN}(\\d+)(?!\\S)`, 'g'),
  /(?<!\S)(\d[\d,٬]*) (?:rials?|ریال)(?!\S)/g,
]

/** The normalized words of a text; a document is one word: `#57` is an invoice, `receipt#5` a receipt. */
export const wordsOf = (text: string): string[] => {
  const plain = AROUND_NUMBERS.reduce((rest, pattern) => rest.replace(pattern, '$1'), normalized(text))
  return Object.entries(NAMED)
    .reduce(
      (marked, [kind, names]) =>
        marked.replace(RegExp(`(?<!\\S)(?:${names}) ${NUMBER_SIGN}(\\d+)(?!\\S)`, 'g'), `${kind}#$1`),
      plain,
    )
    .split(' ')
    .filter(Boolean)
}

/** The kind and number of a document that is a word of {@link wordsOf}. */
export const documentIn = (word: string) => {
  const [, kind = '', number] = /^(receipt|repayment|return)#(\d+)$/.exec(word) ?? []
  return number === undefined ? undefined : { kind, number }
}

/** The digits of a word that is an amount, with or without separators. */
export const amountIn = (word: string) =>
  /^\d{1,3}(?:[,٬]\d{3})+$|^\d+$/.test(word) ? word.replace(/[,٬]/g, '') : undefined

/** A mobile number without +98; both the local and the international form contain it. */
export const withoutCountryCode = (word: string): string => word.replace(/^\+98/, '')

/** What to search: all texts of an order or, in a search for documents, all except its total and its references. */
type Scope = 'order' | 'document'

/** The SQL condition for rows of the table `search s` that contain a word, and its parameter. */
const termOf = (word: string, name: string, scope: Scope) => {
  const document = documentIn(word)
  if (document !== undefined) {
    const sql = `s.rowid IN (SELECT invoice_number FROM ${document.kind}s WHERE number = $${name})`
    return { sql, value: document.number }
  }
  const part = /^#\d+$/.test(word) ? `${word}\n` : withoutCountryCode(word)
  const isIndexed = [...part].length >= INDEXED
  const columns = scope === 'order' ? ['text', 'refs'] : ['text']
  if (!isIndexed)
    return {
      sql: `(${columns.map(column => `${column} GLOB $${name}`).join(' OR ')})`,
      value: `*${part.replace(/[*?[]/g, '[$&]')}*`,
    }
  const amount = scope === 'order' ? amountIn(word) : undefined
  const phrases = [part, ...(amount === undefined ? [] : [totalLine(amount)])]
  return {
    // In FTS5, the column with the table's name stands for the whole row.
    sql: `${scope === 'order' ? 'search' : 'text'} MATCH $${name}`,
    value: phrases.map(each => `"${each.replaceAll('"', '""')}"`).join(' OR '),
  }
}

/**
 * The SQL conditions, with parameters, for rows of the table `search s` that contain these words, one condition each. `#57`
 * matches only the invoice with this number, `receipt#5` only the order with this receipt; a mobile number also matches its
 * international form, and an amount, with or without separators, the orders with this total.
 */
export const searching = (
  words: readonly string[],
  scope: Scope = 'order',
): { sql: string[]; parameters: Record<string, string> } => {
  const terms = words.map((word, index) => ({ name: `word${index}`, ...termOf(word, `word${index}`, scope) }))
  return {
    sql: terms.map(({ sql }) => sql),
    parameters: Object.fromEntries(terms.map(({ name, value }) => [name, value])),
  }
}
