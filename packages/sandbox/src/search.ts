/** Letters that NFKD keeps distinct although they are the same in Persian and Arabic. */
const SAME: Record<string, string> = { ي: 'ی', ى: 'ی', ك: 'ک', ة: 'ه', ە: 'ه', ھ: 'ه', ٱ: 'ا' }

/**
 * Text normalized for search: Arabic and Persian letters and digits unified, without hamza, diacritics, joiners and
 * direction marks, in lower case.
 */
export const normalised = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[\p{M}\p{C}ـء]/gu, '')
    .replace(/[يىكةەھٱ]/g, letter => SAME[letter] ?? letter)
    .replace(/[٠-٩۰-۹]/g, digit => String(digit.charCodeAt(0) & 15))

/** A total as it is indexed. Its digits are private characters, so that a number finds only the same total, not its parts. */
const totalLine = (digits: string) =>
  `=${digits.replace(/\d/g, digit => String.fromCharCode(0xe000 + Number(digit)))}\n`

/** The searchable text of an order: its invoice number, its total and its parts, one per line. */
export const searchable = (invoice_number: number, total: string, parts: readonly string[]): string =>
  totalLine(total) + [`#${invoice_number}`, ...parts.map(normalised), ''].join('\n')

/** Shorter parts of words are not in the trigram index. */
const INDEXED = 3

/** The documents that a number may follow, in English and Persian. */
const NAMED = {
  '': 'invoice|فاکتور',
  receipt: 'receipt|رسید(?: دریافت)?',
  repayment: 'repayment|رسید پرداخت|عودت وجه',
  return: '(?:sales )?return|برگشت از فروش',
}

/** The normalized words of a text; a document is one word: `#57` is an invoice, `receipt#5` a receipt. */
export const wordsOf = (text: string): string[] =>
  Object.entries(NAMED)
    .reduce(
      (marked, [kind, names]) =>
        marked.replace(RegExp(`(?<!\\S)(?:${names}) #?(\\d+)(?!\\S)`, 'g'), `${kind}#$1`),
      normalised(text),
    )
    .split(' ')
    .filter(Boolean)

/** The kind and number of a document that is a word of {@link wordsOf}. */
export const documentIn = (word: string) => {
  const [, kind = '', number] = /^(receipt|repayment|return)#(\d+)$/.exec(word) ?? []
  return number === undefined ? undefined : { kind, number }
}

/** The SQL condition for rows of the table `search s` that contain a word, and its parameter. */
const termOf = (word: string, name: string) => {
  const document = documentIn(word)
  if (document !== undefined) {
    const sql = `s.rowid IN (SELECT invoice_number FROM ${document.kind}s WHERE number = $${name})`
    return { sql, value: document.number }
  }
  const part = /^#\d+$/.test(word) ? `${word}\n` : word.replace(/^\+98/, '')
  const isIndexed = [...part].length >= INDEXED
  const total = /^\d{1,3}(?:[,٬]\d{3})+$|^\d+$/.test(word) && totalLine(word.replace(/[,٬]/g, ''))
  const phrases = [part, total].filter(each => each !== false)
  return {
    sql: `text ${isIndexed ? 'MATCH' : 'GLOB'} $${name}`,
    value: isIndexed
      ? phrases.map(each => `"${each.replaceAll('"', '""')}"`).join(' OR ')
      : `*${part.replace(/[*?[]/g, '[$&]')}*`,
  }
}

/**
 * The SQL conditions, with parameters, for rows of the table `search s` that contain these words, one condition each. `#57`
 * matches only the invoice with this number, `receipt#5` only the order with this receipt; a mobile number also matches its
 * international form, and an amount, with or without separators, the orders with this total.
 */
export const searching = (
  words: readonly string[],
): { sql: string[]; parameters: Record<string, string> } => {
  const terms = words.map((word, index) => ({ name: `word${index}`, ...termOf(word, `word${index}`) }))
  return {
    sql: terms.map(({ sql }) => sql),
    parameters: Object.fromEntries(terms.map(({ name, value }) => [name, value])),
  }
}
