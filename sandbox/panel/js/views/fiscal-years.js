/** @import { Context, FiscalYear } from '../types.d.ts' */

import { addFiscalYear, putFiscalYears } from '../api.js'
import { h } from '../dom.js'
import { ask, field, textOf } from '../form.js'
import { formatDate } from '../format.js'
import { toast } from '../notices.js'
import { cell, dateWithPersian, empty, table } from '../pieces.js'

/** @param {FiscalYear} year */
const wordsOf = ({ from, to }) => `${formatDate(from)} to ${formatDate(to)}`

/** @param {Context} context */
const askForYear = context =>
  ask({
    title: 'Add a fiscal year',
    action: 'Add',
    fields: [
      field({ id: 'year-from', label: 'First day' }, attributes =>
        h('input', { ...attributes, name: 'from', type: 'date' }),
      ),
      field({ id: 'year-to', label: 'Last day' }, attributes =>
        h('input', { ...attributes, name: 'to', type: 'date' }),
      ),
    ],
    submit: async form => {
      const year = { from: textOf(form, 'from'), to: textOf(form, 'to') }
      await addFiscalYear(year)
      await context.reload()
      toast(`Added ${wordsOf(year)}`)
    },
  })

/** @param {Context} context @param {FiscalYear[]} years @param {FiscalYear} year */
const askToRemove = (context, years, year) =>
  ask({
    title: 'Remove this fiscal year?',
    action: 'Remove',
    fields: [
      h(
        'p',
        {},
        `New orders dated ${wordsOf(year)} will be refused. Orders that are already registered stay as they are.`,
      ),
    ],
    submit: async () => {
      await putFiscalYears(years.filter(({ from, to }) => from !== year.from || to !== year.to))
      await context.reload()
      toast(`Removed ${wordsOf(year)}`)
    },
  })

/** @param {FiscalYear[]} years @param {FiscalYear} year @param {Context} context */
const yearRow = (years, year, context) =>
  h(
    'tr',
    { role: 'row', 'data-key': `${year.from}/${year.to}` },
    h('th', { role: 'rowheader', scope: 'row', class: 'plain' }, dateWithPersian(year.from)),
    cell('Last day', dateWithPersian(year.to)),
    cell(
      'Actions',
      h(
        'button',
        {
          type: 'button',
          class: 'button small',
          'aria-label': `Remove ${wordsOf(year)}`,
          onclick: () => askToRemove(context, years, year),
        },
        'Remove',
      ),
      'cell-actions',
    ),
  )

/**
 * The years that orders may be dated in.
 *
 * @param {FiscalYear[]} years
 * @param {Context} context
 */
export const fiscalYearsSection = (years, context) =>
  h(
    'section',
    { class: 'section', 'aria-labelledby': 'fiscal-years' },
    h(
      'div',
      { class: 'section-head' },
      h('h2', { id: 'fiscal-years' }, 'Fiscal years'),
      h('button', { type: 'button', class: 'button', onclick: () => askForYear(context) }, 'Add fiscal year'),
    ),
    years.length === 0
      ? empty('No fiscal years', h('p', {}, 'Every order is refused until one is added.'))
      : table({
          caption: 'Fiscal years',
          kind: 'stacks',
          columns: [{ label: 'First day' }, { label: 'Last day' }, { label: 'Actions' }],
          rows: years.map(year => yearRow(years, year, context)),
        }),
  )
