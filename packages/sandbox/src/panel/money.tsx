import { today } from '@order-relay/web/date-input.tsx'
import { Field, FormContext, rialsIn } from '@order-relay/web/form.tsx'
import { language } from '@order-relay/web/language.ts'
import type { ComponentChildren } from 'preact'
import { useContext, useLayoutEffect } from 'preact/hooks'
import type { SchemaData } from './api.ts'
import { t } from './persian.ts'
import { accountOptions, PAYMENT_METHODS } from './pieces.tsx'
import { numberInWords } from './words.ts'

export type Account = SchemaData<'AccountList'>['accounts'][number]

/** The accounts, and the one that receives the payments of orders. */
export type Accounts = { accounts: readonly Account[]; receiving: Account | undefined }

const NONE = ['', t('Select an account')] as const

/** Whether an account can pay an amount. Without a lowest balance, it can pay any. */
const canPay = ({ lowest }: Account, amount: bigint) => lowest === null || BigInt(lowest) >= amount

/** The accounts for a payment of this method, the receiving one first. */
const fittingIn = (method: string, { accounts, receiving }: Accounts) =>
  accounts
    .filter(({ kind }) => kind === (method === 'cash' ? 'cash' : 'bank'))
    .toSorted((one, other) => Number(other.code === receiving?.code) - Number(one.code === receiving?.code))

/**
 * Cash belongs in a cash box, other money in a bank account: the receiving account if it is of this kind, or else the first one.
 * A cash box that cannot pay the amount is not preset.
 */
const accountFor = (
  method: string,
  { money, agrees }: Pick<MoneyProps, 'money' | 'agrees'>,
  amount: bigint,
) => {
  if (money.receiving === undefined) return undefined
  const found = fittingIn(method, money).find(each => canPay(each, amount))
  return found ?? (agrees ? undefined : money.receiving)
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

/**
 * Describes what the account does with the money.
 *
 * @param short the cash boxes that do not have an amount of cash; shown if no account is selected, or if another one is
 *   preset for this reason
 */
export type Hint = (
  account: Account | undefined,
  about: { date: string; short: readonly Account[] },
) => ComponentChildren

/** The date of a document, with the reason if it is not preset to today. */
export const DateField = ({ date }: { date: string }) => (
  <Field
    name="date"
    label={t('Date')}
    kind="date"
    value={date}
    help={
      date === today()
        ? undefined
        : t('Today is not in an open fiscal year, so the last day of the open year is preset.')
    }
  />
)

/** The typed amount, or the given one while none is typed. */
const amountIn = (typed: string, amount: string) => {
  const number = rialsIn(typed)
  return BigInt(number === undefined ? amount : JSON.stringify(number))
}

type MoneyProps = {
  money: Accounts
  amount: string
  date: string
  hint?: Hint
  /** Whether method and account must agree, so that each follows the other. */
  agrees?: boolean
}

/** The amount, method, account, reference and date of a payment. Until it is chosen, the account follows the method. */
export const MoneyFields = ({ money, amount, date, hint, agrees = false }: MoneyProps) => {
  const { draft, problems } = useContext(FormContext)
  const preset = money.receiving?.kind === 'cash' ? 'cash' : 'transfer'
  const typed = String(draft.value.amount ?? amount)
  const paid = amountIn(typed, amount)
  const presetFor = (method: string) => accountFor(method, { money, agrees }, paid)?.code ?? ''
  const method = String(draft.value.method ?? preset)
  const code = String(draft.value.account ?? presetFor(method))
  const boxes = money.accounts.filter(({ kind }) => kind === 'cash')
  const isShort = method === 'cash' && !boxes.some(box => canPay(box, paid))
  // Another account would be preset if it had the amount.
  const isPreset = draft.value.account === undefined && code !== ''
  const isReplaced = isPreset && code !== fittingIn(method, money)[0]?.code
  // Another method or amount can preset another account, which does not have the problem of the earlier one.
  useLayoutEffect(() => {
    if (problems.value.some(({ field }) => field === 'account'))
      problems.value = problems.value.filter(({ field }) => field !== 'account')
  }, [code])
  const help = hint?.(
    money.accounts.find(each => each.code === code),
    { date, short: isShort || isReplaced ? boxes.filter(box => !canPay(box, paid)) : [] },
  )
  const agree = ({ target }: { target: EventTarget | null }) => {
    if (!(agrees && target instanceof HTMLSelectElement)) return
    if (target.name === 'method' && isFitting(target.value, code, money)) return
    if (target.name === 'method') {
      // Until an account is chosen, it also depends on the amount.
      const { account: _, ...others } = draft.value
      draft.value = others
    } else if (!isFitting(method, target.value, money))
      draft.value = { ...draft.value, method: method === 'cash' ? 'transfer' : 'cash' }
  }
  return (
    <div class="pairs" onInput={agree}>
      {amount !== '0' && (
        <Field
          name="amount"
          label={t('Amount in rials')}
          kind="rials"
          value={amount}
          below={inWords(typed)}
        />
      )}
      <Field name="method" label={t('Method')} options={Object.entries(PAYMENT_METHODS)} value={preset} />
      <Field
        name="account"
        label={t('Account')}
        value={code}
        help={help}
        options={[
          ...(money.receiving === undefined || code === '' ? [NONE] : []),
          ...accountOptions(money.accounts),
        ]}
      />
      <Field name="reference" label={t('Reference')} />
      <DateField date={date} />
      <Field name="note" label={t('Note')} help={t('Optional. Shown on the document and in the export.')} />
    </div>
  )
}
