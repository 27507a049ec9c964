import { Field, FormContext } from '@order-relay/web/form.tsx'
import type { ComponentChildren } from 'preact'
import { useContext } from 'preact/hooks'
import type { SchemaData } from './api.ts'
import { t } from './persian.ts'
import { accountOptions, PAYMENT_METHODS } from './pieces.tsx'

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

type MoneyProps = {
  money: Accounts
  amount: string
  date: string
  /** Describes the receipt in an account. */
  hint?: (account: Account | undefined) => ComponentChildren
}

/** The amount, method, account, reference and date of a payment. Until it is chosen, the account follows the method. */
export const MoneyFields = ({ money, amount, date, hint }: MoneyProps) => {
  const { draft } = useContext(FormContext)
  const preset = money.receiving?.kind === 'cash' ? 'cash' : 'transfer'
  const code = draft.value.account ?? accountFor(String(draft.value.method ?? preset), money)?.code ?? ''
  const help = hint?.(money.accounts.find(each => each.code === code))
  return (
    <div class="pairs">
      <Field name="amount" label={t('Amount in rials')} kind="rials" value={amount} />
      <Field name="method" label={t('Method')} options={Object.entries(PAYMENT_METHODS)} value={preset} />
      <Field
        {...{ name: 'account', label: t('Account'), value: code, help }}
        options={[...(money.receiving === undefined ? [NONE] : []), ...accountOptions(money.accounts)]}
      />
      <Field name="reference" label={t('Reference')} />
      <Field name="date" label={t('Date')} kind="date" value={date} />
    </div>
  )
}
