import { ask } from '@order-relay/web/dialog.tsx'
import { attempt, hideToast, toast } from '@order-relay/web/notices.ts'
import { Button } from '@order-relay/web/pieces.tsx'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { act, type RouteData } from './api.ts'
import { check } from './order-check.tsx'
import { NAMES, nameIn } from './order-pieces.tsx'
import { t } from './persian.ts'
import { textOf } from './pieces.tsx'
import { plan } from './plans.tsx'

type Key = { source: string; external_id: string }

export const resend = ({ source, external_id }: Key) =>
  attempt(
    () => act('orders/resend', { source, external_id }),
    t('The worker publishes the current state of the order to its store, with the next version.'),
  )

const retry = (order: Key) =>
  attempt(async () => {
    const { released, checked, received } = await act('orders/retry', order)
    const isRetried = released + checked + received > 0
    toast(isRetried ? t('The order is being retried.') : t('No order is waiting for an attempt.'))
  })

type Action = RouteData<'order'>['why']['actions'][number]

const LABELS = {
  retry: t('Retry now'),
  check: t('Check now'),
  replay: t('Replay the dead letter…'),
  discard: t('Delete the dead letter…'),
  withdraw: t('Withdraw…'),
} as const

const WITHDRAWN = t('The withdrawal is in the order queue.')

/** The last request that was withdrawn on this page. */
const withdrawn = signal<(Key & { of: string }) | undefined>(undefined)

/** Hides the confirmation of a withdrawal when the request is no longer open. */
export const WithdrawalState = ({ source, external_id, open }: Key & Pick<RouteData<'order'>, 'open'>) => {
  const last = withdrawn.value
  const isOver =
    last?.source === source && last.external_id === external_id && open.every(({ kind }) => kind !== last.of)
  useEffect(() => {
    if (isOver) hideToast(WITHDRAWN)
  }, [isOver, last])
  return null
}

const askWithdraw = (order: Key, of: NonNullable<Action['of']>, effect: Action['effect']) =>
  ask({
    title: t('Withdraw: {request}', { request: nameIn(NAMES, of) }),
    text: `${textOf(effect)} ${t('The store is notified.')}`,
    action: t('Withdraw'),
    tone: 'bad',
    submit: async () => {
      await act('orders/withdraw', { ...order, of })
      toast(WITHDRAWN)
      withdrawn.value = { ...order, of }
    },
  })

/** A possible action: a check runs immediately, a dead letter is planned first, and a withdrawal asks for confirmation. */
export const ActionButton = ({ order, action, of, effect }: Action & { order: Key }) => {
  const { source, external_id } = order
  const carryOut = () => {
    if (action === 'check') return check(order)
    if (action === 'retry') return retry({ source, external_id })
    if (action === 'withdraw') return of && askWithdraw({ source, external_id }, of, effect)
    return plan('dead', action, { source, order: external_id })
  }
  return (
    <Button kind="small" onClick={carryOut}>
      {LABELS[action]} {of !== undefined && `(${nameIn(NAMES, of)})`}
    </Button>
  )
}
