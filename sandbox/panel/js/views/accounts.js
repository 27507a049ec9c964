/** @import { Account, Context } from '../types.d.ts' */

import { putAccount } from '../api.js'
import { h } from '../dom.js'
import { ask, field, requireText, textOf } from '../form.js'
import { toast } from '../notices.js'
import { cell, name, table } from '../pieces.js'

const KINDS = { cash: 'Cash box', bank: 'Bank account' }

/** @param {Context} context @param {Account} [account] the one to change; none adds one */
const askForAccount = (context, account) =>
  ask({
    title: account === undefined ? 'Add an account' : `Change account ${account.code}`,
    action: account === undefined ? 'Add' : 'Save',
    fields: [
      field({ id: 'account-code', label: 'Code' }, attributes =>
        h('input', {
          ...attributes,
          name: 'code',
          autocomplete: 'off',
          value: account?.code ?? '',
          readonly: account !== undefined,
        }),
      ),
      field({ id: 'account-name', label: 'Name' }, attributes =>
        h('input', {
          ...attributes,
          name: 'name',
          dir: 'auto',
          autocomplete: 'off',
          value: account?.name ?? '',
          autofocus: account !== undefined,
        }),
      ),
      field(
        {
          id: 'account-kind',
          label: 'Kind',
          help: 'A cash box gives cash receipts; a bank account gives transfer or card-reader (pos) receipts.',
        },
        attributes =>
          h(
            'select',
            { ...attributes, name: 'kind' },
            Object.entries(KINDS).map(([kind, label]) =>
              h('option', { value: kind, selected: kind === account?.kind }, label),
            ),
          ),
      ),
    ],
    submit: async form => {
      const saved = await putAccount({
        code: requireText(form, 'code', 'a code'),
        name: requireText(form, 'name', 'a name'),
        kind: textOf(form, 'kind') === 'bank' ? 'bank' : 'cash',
      })
      await context.reload()
      toast(`Saved account ${saved.code}`)
    },
  })

/** @param {Account} account @param {Context} context */
const accountRow = (account, context) =>
  h(
    'tr',
    { role: 'row', 'data-key': account.code },
    h('th', { role: 'rowheader', scope: 'row', class: 'code' }, name(account.code)),
    cell('Name', name(account.name), 'cell-name'),
    cell('Kind', KINDS[account.kind]),
    cell(
      'Actions',
      h(
        'button',
        {
          type: 'button',
          class: 'button small',
          'aria-label': `Change account ${account.code}`,
          onclick: () => askForAccount(context, account),
        },
        'Change',
      ),
      'cell-actions',
    ),
  )

/**
 * The accounts that money can be received in.
 *
 * @param {Account[]} accounts
 * @param {Context} context
 */
export const accountsSection = (accounts, context) =>
  h(
    'section',
    { class: 'section', 'aria-labelledby': 'accounts' },
    h(
      'div',
      { class: 'section-head' },
      h('h2', { id: 'accounts' }, 'Accounts'),
      h('button', { type: 'button', class: 'button', onclick: () => askForAccount(context) }, 'Add account'),
    ),
    table({
      caption: 'Accounts',
      kind: 'stacks',
      columns: [{ label: 'Code' }, { label: 'Name' }, { label: 'Kind' }, { label: 'Actions' }],
      rows: accounts.map(account => accountRow(account, context)),
    }),
  )
