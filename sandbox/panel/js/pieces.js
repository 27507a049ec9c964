// Small things that several pages draw alike.

/** @import { Child } from './types.d.ts' */

import { h } from './dom.js'
import { formatDate, formatMoment, formatPersianDate } from './format.js'

/** @type {Record<string, string>} */
const STATUS_NAMES = {
  needs_review: 'Needs review',
  invoiced: 'Invoiced',
  paid: 'Paid',
  refunded: 'Refunded',
}

/**
 * What a status is called on this page.
 *
 * @param {string} status
 */
export const statusName = status => STATUS_NAMES[status] ?? status

/**
 * A status in English with the service's own Persian label.
 *
 * @param {{ status: string, status_display?: string | null }} order
 */
export const statusChip = ({ status, status_display }) =>
  h(
    'span',
    { class: `chip chip-${status}` },
    statusName(status),
    status_display && [' ', h('bdi', { lang: 'fa', dir: 'auto', class: 'chip-fa' }, status_display)],
  )

/**
 * Text from a store, in whatever direction it reads.
 *
 * @param {string | null | undefined} text
 */
export const name = text => h('bdi', { dir: 'auto' }, text ?? '')

/**
 * @param {string} title
 * @param {Child} [aside] what stands beside the heading
 * @param {Child} [above]
 * @param {string} [kind]
 */
export const pageHead = (title, aside = null, above = null, kind = '') =>
  h(
    'header',
    { class: `page-head ${kind}` },
    above,
    h('div', { class: 'page-head-row' }, h('h1', { tabindex: -1 }, name(title)), aside),
  )

/**
 * What to do while there is nothing to show.
 *
 * @param {string} title
 * @param {...Child} children
 */
export const empty = (title, ...children) =>
  h('div', { class: 'empty' }, h('p', { class: 'empty-title' }, title), children)

/**
 * A calendar date, with the same day in the Persian calendar.
 *
 * @param {string} date
 */
export const dateWithPersian = date =>
  h(
    'time',
    { datetime: date },
    formatDate(date),
    ' ',
    h('bdi', { lang: 'fa', dir: 'rtl', class: 'muted nowrap' }, formatPersianDate(date)),
  )

/** @param {string} iso */
export const moment = iso => h('time', { datetime: iso, title: iso, class: 'nowrap' }, formatMoment(iso))

/**
 * A command to run, which can be copied.
 *
 * @param {string} command
 */
export const commandLine = command => {
  const copied = h('span', { role: 'status', class: 'muted' })
  const copy = async () => {
    await navigator.clipboard.writeText(command)
    copied.textContent = 'Copied'
  }
  return h(
    'div',
    { class: 'command' },
    h('pre', { tabindex: 0, role: 'region', 'aria-label': 'Command' }, h('code', {}, command)),
    h(
      'p',
      { class: 'command-foot' },
      h('button', { type: 'button', class: 'button small', onclick: copy }, 'Copy'),
      copied,
    ),
  )
}

/**
 * A table cell that carries its column's name for narrow screens.
 *
 * @param {string} label
 * @param {Child} child
 * @param {string} [kind]
 */
export const cell = (label, child, kind = '') =>
  h('td', { role: 'cell', 'data-label': label, class: kind }, child)

/**
 * A table that keeps its roles when narrow screens stack its cells.
 *
 * @param {{ caption: string, columns: { label: string, kind?: string }[], rows: Child[], kind?: string }} table
 */
export const table = ({ caption, columns, rows, kind = '' }) =>
  h(
    'table',
    { role: 'table', class: `table ${kind}` },
    h('caption', { class: 'visually-hidden' }, caption),
    h(
      'thead',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        columns.map(({ label, kind: columnKind }) =>
          h(
            'th',
            { role: 'columnheader', scope: 'col', class: columnKind },
            label === 'Actions' ? h('span', { class: 'visually-hidden' }, label) : label,
          ),
        ),
      ),
    ),
    h('tbody', { role: 'rowgroup' }, rows),
  )
