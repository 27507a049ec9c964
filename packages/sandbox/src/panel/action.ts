import type { FieldProps } from '@order-relay/web/form.tsx'
import type { Values } from '@order-relay/web/form-values.ts'
import { separator } from '@order-relay/web/language.ts'
import { translateMessage } from '@order-relay/web/messages.ts'
import { STATUS_NAMES, type Status } from '@order-relay/web/status.tsx'
import type { ComponentChildren } from 'preact'
import type { GenericSchema } from 'valibot'
import type { SchemaData } from './api.ts'
import type { Accounts } from './money.tsx'
import { t } from './persian.ts'
import type { preventionsOf } from './prevention.ts'

type Order = SchemaData<'OrderDetail'>

/** An action of the accountant on an order. */
export type Action = {
  name: Exclude<keyof ReturnType<typeof preventionsOf>['actions'], 'correct'>
  label: string
  statuses: readonly Status[]
  isPossible?: (order: Order) => boolean
  /** The effect as sentences; `sent` says who is notified of a change of the status, or is empty. */
  effect: (order: Order, sent: string) => readonly (string | false)[]
  fields?: (order: Order) => FieldProps[]
  /** @param date the preset date of the document */
  content?: (order: Order, money: Accounts, date: string) => ComponentChildren
  /** Whether money leaves an account, so that the content shows what each cash box can pay. */
  isPaidOut?: true
  bodyOf?: (values: Values, order: Order) => object
  /** Validates the body. */
  rules: GenericSchema
  /** The body of a dry run, if it differs: a text that the action requires may not have been typed yet. */
  rehearsalOf?: () => object
  /** Describes the order after a dry run of the action. */
  resultOf?: (after: Order, before: Order) => string
  /** Reports the result; by default, the status and what is due. */
  doneOf?: (after: Order, before: Order) => string
}

/** Describes a dry run by the warnings that it adds. */
export const newWarnings: NonNullable<Action['resultOf']> = ({ warnings }, before) =>
  warnings
    .filter(each => !before.warnings.includes(each))
    .map(translateMessage)
    .join(separator)

/** Describes a dry run by the new status of the order, if the status changes. */
export const newStatus: NonNullable<Action['resultOf']> = ({ status }, before) =>
  status === before.status ? '' : t('The order will be {status}.', { status: STATUS_NAMES[status] })

/** Joins descriptions of a dry run. */
export const resultsOf =
  (...descriptions: NonNullable<Action['resultOf']>[]): NonNullable<Action['resultOf']> =>
  (after, before) =>
    descriptions
      .map(describe => describe(after, before))
      .filter(Boolean)
      .join(separator)
