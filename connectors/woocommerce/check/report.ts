import { settingsFile } from '../lib/settings.ts'
import type { Language } from '../lib/words.ts'
import type { CheckReport } from './check.ts'
import { FINDINGS, LEVEL_NAMES, METHOD_NAMES, WORDS } from './texts.ts'

/** A part of the report: a heading, and paragraphs, a table or a listing below it. */
export type Section = {
  heading: string
  paragraphs?: readonly string[]
  table?: { headings: readonly string[]; rows: readonly (readonly string[])[] }
  listing?: string
}

/** Orders that the text and the page list; the JSON has all. */
const LISTED = 50

const formatter = (language: Language) => {
  const word = (name: keyof typeof WORDS, values: Readonly<Record<string, string>> = {}) =>
    WORDS[name][language].replaceAll(/\{(\w+)\}/g, (_, key) => values[key] ?? '')
  const locale = language === 'fa' ? 'fa-IR' : 'en'
  const percent = (value: number) => value.toLocaleString(locale)
  const number = (value: string | number) => BigInt(value).toLocaleString(locale)
  const day = (iso: string) =>
    new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'Asia/Tehran' }).format(new Date(iso))
  /** Joins with the comma of the language. */
  const list = (parts: readonly string[]) => parts.join(language === 'fa' ? '، ' : ', ')
  return { word, number, percent, day, list }
}

/** The report in words: what was found, worst first, and the configuration that `connect` would use. */
export const sectionsOf = (report: CheckReport, language: Language): readonly Section[] => {
  const { word, number, percent, day, list } = formatter(language)
  const { differences, findings, orders, invoices, equal, canConnect } = report
  const isReady = canConnect && differences.length === 0
  const more = (total: number, shown: number) =>
    total > shown ? [word('more', { count: number(total - shown) })] : []
  const rials = (digits: string) => `${number(digits)} ${word('rials')}`
  return [
    {
      heading: word('title', { shop: report.shop }),
      paragraphs: [
        word('period', { from: day(report.from), to: day(report.to) }),
        word(canConnect ? (isReady ? 'ready' : 'fix') : 'stopped'),
        ...(orders === 0
          ? [word('nothing')]
          : [
              list([
                `${number(orders)} ${word('orders')}`,
                `${number(invoices)} ${word('invoices')}`,
                `${number(equal)} ${word('equal')}`,
              ]),
              list([
                `${word('shopTotal')}: ${rials(report.total)}`,
                `${word('invoiceTotal')}: ${rials(report.invoiceTotal)}`,
              ]),
            ]),
      ],
    },
    ...(findings.length === 0
      ? []
      : [
          {
            heading: word('findings'),
            paragraphs: findings.map(({ code, level, count, examples }) => {
              const named = examples.filter(example => example !== '')
              const examplesText = list([...named, ...more(count, examples.length)])
              const { means, action } = FINDINGS[code]
              return `${LEVEL_NAMES[level][language]}: ${means[language]} ${action[language]}${examplesText && ` (${examplesText})`}`
            }),
          },
        ]),
    ...(differences.length === 0
      ? []
      : [
          {
            heading: word('differences'),
            table: {
              headings: (['order', 'inShop', 'invoice', 'difference', 'cause'] as const).map(name =>
                word(name),
              ),
              rows: differences
                .slice(0, LISTED)
                .map(({ order, total, amount = '', invoiceTotal, causes }) => [
                  order,
                  total === undefined ? amount : number(total),
                  invoiceTotal === undefined ? word('none') : number(invoiceTotal),
                  total === undefined || invoiceTotal === undefined
                    ? ''
                    : number(String(BigInt(invoiceTotal) - BigInt(total))),
                  causes.map(code => FINDINGS[code].means[language]).join(' '),
                ]),
            },
            paragraphs: more(differences.length, LISTED),
          },
        ]),
    {
      heading: word('statuses'),
      table: {
        headings: [word('status'), word('orders'), word('becomes')],
        rows: report.statuses.map(({ status, name, orders: count, isInvoiced }) => [
          name === status ? status : `${name} (${status})`,
          number(count),
          word(isInvoiced ? 'yes' : 'no'),
        ]),
      },
    },
    {
      heading: word('payments'),
      table: {
        headings: [word('gateway'), word('method'), word('orders')],
        rows: report.payments.map(({ gateway, title, method, orders: count }) => [
          title === '' ? gateway : `${title} (${gateway})`,
          METHOD_NAMES[method]?.[language] ?? method,
          number(count),
        ]),
      },
    },
    {
      heading: word('tax'),
      table: {
        headings: [word('gateway'), word('method')],
        rows: [
          [
            word(report.tax.shop),
            word('rate', { mode: word(report.tax.accounting), rate: percent(report.tax.rate) }),
          ],
        ],
      },
    },
    { heading: word('configuration'), listing: settingsFile(report.settings) },
  ]
}

const escaped = (text: string) => text.replaceAll(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)

/** Latin text, such as an address or the name of a product, without the parentheses around it. */
const LATIN = /(?:\d+ )?[A-Za-z-][!-'*-~]*(?: [!-'*-~]+)*/g

const STYLE = `
  body { font: 16px/1.6 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
  table { border-collapse: collapse; width: 100% }
  th, td { padding: .3rem .6rem; border-bottom: 1px solid #8886; text-align: start; vertical-align: top }
  td { font-variant-numeric: tabular-nums }
  pre { padding: 1rem; border: 1px solid #8886; overflow-x: auto; direction: ltr; text-align: left }
`

/** The report as one HTML file without references to others, to be read or printed by the shop's owner. */
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
            `<table><thead>${row('th', table.headings)}</thead>`,
            `<tbody>${table.rows.map(cells => row('td', cells)).join('\n')}</tbody></table>`,
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
