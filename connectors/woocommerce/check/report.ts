import { caseText, causeText, type Language, rials } from '../lib/cases.ts'
import { settingsFile } from '../lib/settings.ts'
import { escaped } from '../lib/words.ts'
import type { CheckedOrder, CheckReport } from './check.ts'
import { LEVEL_NAMES, WORDS } from './texts.ts'

/** A part of the report: a heading, and paragraphs, a table or a listing below it. */
export type Section = {
  heading: string
  paragraphs?: readonly string[]
  table?: { headings: readonly string[]; rows: readonly (readonly string[])[] }
  listing?: string
}

/** The number of orders listed in the text and on the page; the JSON contains all. */
const LISTED = 50

const formatter = (language: Language) => {
  const word = (name: keyof typeof WORDS, values: Readonly<Record<string, string>> = {}) =>
    WORDS[name][language].replaceAll(/\{(\w+)\}/g, (_, key) => values[key] ?? '')
  const locale = language === 'fa' ? 'fa-IR' : 'en'
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'Asia/Tehran' })
  return {
    word,
    number: (value: bigint | number) => value.toLocaleString(locale),
    day: (iso: string) => days.format(new Date(iso)),
    /** Joins with the comma of the language. */
    list: (parts: readonly string[]) => parts.join(language === 'fa' ? '، ' : ', '),
  }
}

/** The report as text: the findings, most severe first, and the settings for `connect`. */
export const sectionsOf = (report: CheckReport, language: Language): readonly Section[] => {
  const { word, number, day, list } = formatter(language)
  const { equal, differences, findings, canConnect, tax } = report
  const more = (total: number, shown: number) =>
    total > shown ? [word('more', { count: number(total - shown) })] : []
  const table = (headings: readonly (keyof typeof WORDS)[], rows: readonly (readonly string[])[]) => ({
    table: { headings: headings.map(name => word(name)), rows },
  })
  const named = (id: string, name: string) => (name === '' || name === id ? id : `${name} (${id})`)
  const counted = (name: 'due' | 'invoices', count: number, total: string) =>
    word('counted', { name: word(name), count: number(count), total: rials(total, language) })
  const sums = [
    `${word('orders')}: ${number(report.orders)}`,
    counted('due', equal.length + differences.length, report.total),
    counted('invoices', report.invoices, report.invoiceTotal),
    `${word('equal')}: ${number(equal.length)}`,
  ]
  const summary: Section = {
    heading: word('title', { shop: report.shop }),
    paragraphs: [
      word('period', { from: day(report.from), to: day(report.to) }),
      word(canConnect ? (differences.length === 0 ? 'ready' : 'fix') : 'stopped'),
      ...(report.orders === 0 ? [word('nothing')] : sums),
    ],
  }
  const toDo: Section = {
    heading: word('findings'),
    paragraphs: findings.map(({ code, level, count, examples }) => {
      const detail = examples.length === 0 ? '' : list([...examples, ...more(count, examples.length)])
      return `${LEVEL_NAMES[level][language]}: ${caseText(code, detail, language)}`
    }),
  }
  const inShop = ({ amount, total }: CheckedOrder) => {
    if (total === undefined) return amount
    const digits = number(BigInt(total))
    return amount.endsWith(' IRR') ? digits : `${digits} (${amount})`
  }
  const rowOf = (checked: CheckedOrder) => {
    const { order, total, invoiceTotal, causes } = checked
    const invoiced = invoiceTotal === undefined ? word('none') : number(BigInt(invoiceTotal))
    const isComparable = total !== undefined && invoiceTotal !== undefined
    const difference = isComparable ? number(BigInt(invoiceTotal) - BigInt(total)) : ''
    const cause = causes.map(code => causeText(code, language)).join(' ')
    return [order, inShop(checked), invoiced, ...(causes.length === 0 ? [] : [difference, cause])]
  }
  const compared = (
    heading: 'differences' | 'equal',
    orders: readonly CheckedOrder[],
    headings: readonly (keyof typeof WORDS)[],
  ): Section[] => {
    if (orders.length === 0) return []
    const rows = orders.slice(0, LISTED).map(rowOf)
    return [{ heading: word(heading), ...table(headings, rows), paragraphs: more(orders.length, LISTED) }]
  }
  return [
    summary,
    ...(findings.length === 0 ? [] : [toDo]),
    ...compared('differences', differences, ['order', 'inShop', 'invoice', 'difference', 'cause']),
    ...compared('equal', equal, ['order', 'inShop', 'invoice']),
    {
      heading: word('statuses'),
      ...table(
        ['status', 'orders', 'becomes'],
        report.statuses.map(({ status, name, orders, isInvoiced }) => [
          named(status, name),
          number(orders),
          word(isInvoiced ? 'yes' : 'no'),
        ]),
      ),
    },
    {
      heading: word('payments'),
      ...table(
        ['shop', 'accounting', 'orders'],
        report.payments.map(({ gateway, title, method, orders }) => [
          named(gateway, title),
          word(method),
          number(orders),
        ]),
      ),
    },
    {
      heading: word('tax'),
      ...table(
        ['shop', 'accounting'],
        [[word(tax.shop), word('rate', { mode: word(tax.accounting), rate: number(tax.rate) })]],
      ),
    },
    { heading: word('settings'), listing: settingsFile(report.settings) },
  ]
}

/** Latin text, such as an address or the name of a product, without the parentheses around it. */
const LATIN = /(?:[\d,.]+ )?[A-Za-z-][!-'*-~]*(?: [!-'*-~]+)*/g

const STYLE = `
  body { font: 16px/1.6 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
  h1 { overflow-wrap: anywhere }
  div { overflow-x: auto }
  table { border-collapse: collapse; width: 100% }
  th, td { padding: .3rem .6rem; border-bottom: 1px solid #8886; text-align: start; vertical-align: top }
  td { font-variant-numeric: tabular-nums }
  pre { padding: 1rem; border: 1px solid #8886; overflow-x: auto; direction: ltr; text-align: left }
`

/** The report as a self-contained HTML file that the shop's owner can read or print. */
export const pageOf = (report: CheckReport, language: Language): string => {
  const [first, ...others] = sectionsOf(report, language)
  // Latin text keeps its own direction in a Persian sentence.
  const html = (text: string) =>
    language === 'fa' ? escaped(text).replaceAll(LATIN, '<bdi>$&</bdi>') : escaped(text)
  const row = (cell: 'td' | 'th', cells: readonly string[]) =>
    `<tr>${cells.map(each => `<${cell}>${html(each)}</${cell}>`).join('')}</tr>`
  const section = ({ heading, paragraphs = [], table, listing }: Section, level: 1 | 2) =>
    [
      `<h${level}>${html(heading)}</h${level}>`,
      ...(table === undefined
        ? []
        : [
            `<div><table><thead>${row('th', table.headings)}</thead>`,
            `<tbody>${table.rows.map(cells => row('td', cells)).join('\n')}</tbody></table></div>`,
          ]),
      ...paragraphs.map(text => `<p>${html(text)}</p>`),
      ...(listing === undefined ? [] : [`<pre>${escaped(listing)}</pre>`]),
    ].join('\n')
  return `<!doctype html>
<html lang="${language}" dir="${language === 'fa' ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(first?.heading ?? '')}</title>
<style>${STYLE}</style>
</head>
<body>
${first === undefined ? '' : section(first, 1)}
${others.map(each => section(each, 2)).join('\n')}
</body>
</html>
`
}
