/** What NFKD leaves apart although Persian and Arabic writers mean the same letter. */
const SAME: Record<string, string> = { ي: 'ی', ى: 'ی', ك: 'ک', ة: 'ه', ە: 'ه', ھ: 'ه', ٱ: 'ا' }

/**
 * Text in the one spelling that a search compares: Arabic and Persian letters and digits alike, hamza and diacritics
 * taken off, without joiners and direction marks, in lower case.
 */
export const normalised = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[\p{M}\p{C}ـء]/gu, '')
    .replace(/[يىكةەھٱ]/g, letter => SAME[letter] ?? letter)
    .replace(/[٠-٩۰-۹]/g, digit => String(digit.charCodeAt(0) & 15))

/** What is searched of an order: its parts, one a line. */
export const searchable = (invoice_number: number, parts: readonly string[]): string =>
  [`#${invoice_number}`, ...parts.map(normalised), ''].join('\n')

/** Shorter parts of words are not in the index of trigrams. */
const INDEXED = 3

/**
 * The conditions in SQL under which the table `search` has every word of a text, and their parameters. `#57` is the
 * invoice of this number alone; a mobile number is found in its international form, too.
 */
export const searching = (text: string): { sql: string; parameters: Record<string, string> } => {
  const words = normalised(text).split(' ').filter(Boolean)
  const terms = words.map((word, index) => {
    const part = /^#\d+$/.test(word) ? `${word}\n` : word.replace(/^\+98/, '')
    const isIndexed = [...part].length >= INDEXED
    return {
      sql: `text ${isIndexed ? 'MATCH' : 'GLOB'} $word${index}`,
      name: `word${index}`,
      value: isIndexed ? `"${part.replaceAll('"', '""')}"` : `*${part.replace(/[*?[]/g, '[$&]')}*`,
    }
  })
  return {
    sql: terms.map(({ sql }) => sql).join(' AND '),
    parameters: Object.fromEntries(terms.map(({ name, value }) => [name, value])),
  }
}
