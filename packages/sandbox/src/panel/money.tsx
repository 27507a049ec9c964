import { Field, FormContext, rialsIn } from '@order-relay/web/form.tsx'
import { language } from '@order-relay/web/language.ts'
import type { ComponentChildren } from 'preact'
import { useContext } from 'preact/hooks'
import type { SchemaData } from './api.ts'
import { t } from './persian.ts'
import { accountOptions, PAYMENT_METHODS } from './pieces.tsx'
import { numberInWords } from './words.ts'

export type Account = SchemaData<'Account'>

/** The accounts, and the one that receives the payments of orders. */
export type Accounts = { accounts: readonly Account[]; receiving: Account | undefined }

const NONE = ['', t('Select an account')] as const

/** Cash belongs in a cash box, other money in a bank account: the receiving account if it is of this kind. */
const accountFor = (method: string, { accounts, receiving }: Accounts) => {
  if (receiving === undefined) return undefined
  const kind = method === 'cash' ? 'cash' : 'bank'
  return [receiving, ...accounts].find(each => each.kind === kind) ?? receiving
}

/** Whether money of this method belongs in the account. */
const isFitting = (method: string, code: string, { accounts }: Accounts) =>
  accounts.find(each => each.code === code)?.kind === (method === 'cash' ? 'cash' : 'bank')

/** A typed amount in words, so that the accountant notices a wrong number of zeros. */
const inWords = (typed: string) => {
  const number = rialsIn(typed)
  const words = number === undefined ? undefined : numberInWords(JSON.stringify(number), language)
  return words !== undefined && t('{amount} rials', { amount: words })
}

type MoneyProps = {
  money: Accounts
  amount: string
  date: string
  /** Describes the receipt in an account. */
  hint?: (account: Account | undefined) => ComponentChildren
  /** Whether method and account must agree, so that each follows the other. */
  agrees?: boolean
}

/** The amount, method, account, reference and date of a payment. Until it is chosen, the account follows the method. */
export const MoneyFields = ({ money, amount, date, hint, agrees = false }: MoneyProps) => {
  const { draft } = useContext(FormContext)
  const preset = money.receiving?.kind === 'cash' ? 'cash' : 'transfer'
  const code = String(
    draft.value.account ?? accountFor(String(draft.value.method ?? preset), money)?.code ?? '',
  )
  const help = hint?.(money.accounts.find(each => each.code === code))
  const agree = ({ target }: { target: EventTarget | null }) => {
    if (!(agrees && target instanceof HTMLSelectElement)) return
    const method = String(draft.value.method ?? preset)
    if (target.name === 'method' && isFitting(target.value, code, money)) return
    if (target.name === 'method')
      draft.value = { ...draft.value, account: accountFor(target.value, money)?.code ?? '' }
    else if (!isFitting(method, target.value, money))
      draft.value = { ...draft.value, method: method === 'cash' ? 'transfer' : 'cash' }
  }
  return (
    <div class="pairs" onInput={agree}>
      <Field
        name="amount"
        label={t('Amount in rials')}
        kind="rials"
        value={amount}
        below={inWords(String(draft.value.amount ?? amount))}
      />
      <Field name="method" label={t('Method')} options={Object.entries(PAYMENT_METHODS)} value={preset} />
      <Field
        name="account"
        label={t('Account')}
        value={code}
        help={help}
        options={[...(money.receiving === undefined ? [NONE] : []), ...accountOptions(money.accounts)]}
      />
      <Field name="reference" label={t('Reference')} />
      <Field name="date" label={t('Date')} kind="date" value={date} />
      <Field name="note" label={t('Note')} help={t('Optional. Shown on the document and in the export.')} />
    </div>
  )
}
