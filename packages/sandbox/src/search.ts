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

/**
 * The SQL conditions, with parameters, for rows of the table `search` that contain every word of a text. `#57` and
 * `invoice 57` match only the invoice with this number; a mobile number also matches its international form, and an amount,
 * with or without separators, the orders with this total.
 */
export const searching = (text: string): { sql: string; parameters: Record<string, string> } => {
  const words = normalised(text)
    .replace(/(?<!\S)(?:فاکتور|invoice) (\d+)(?!\S)/g, '#$1')
    .split(' ')
    .filter(Boolean)
  const terms = words.map((word, index) => {
    const part = /^#\d+$/.test(word) ? `${word}\n` : word.replace(/^\+98/, '')
    const isIndexed = [...part].length >= INDEXED
    const total = /^\d{1,3}(?:[,٬]\d{3})+$|^\d+$/.test(word) && totalLine(word.replace(/[,٬]/g, ''))
    const phrases = [part, total].filter(each => each !== false)
    return {
      sql: `text ${isIndexed ? 'MATCH' : 'GLOB'} $word${index}`,
      name: `word${index}`,
      value: isIndexed
        ? phrases.map(each => `"${each.replaceAll('"', '""')}"`).join(' OR ')
        : `*${part.replace(/[*?[]/g, '[$&]')}*`,
    }
  })
  return {
    sql: terms.map(({ sql }) => sql).join(' AND '),
    parameters: Object.fromEntries(terms.map(({ name, value }) => [name, value])),
  }
}
