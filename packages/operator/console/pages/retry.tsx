import { ask } from '@order-relay/web/dialog.tsx'
import { request } from '@order-relay/web/http.ts'
import { attempt, toast } from '@order-relay/web/notices.ts'
import { Button } from '@order-relay/web/pieces.tsx'
import { act, type RouteData, reads } from './api.ts'
import { CODES } from './outcomes.ts'
import { t } from './persian.ts'
import { Job } from './pieces.tsx'

export const RETRIES = reads('orders/retries', {}, 'order-retries')

type Waiting = RouteData<'orders/waiting'>
type Group = Waiting['groups'][number]

const causeText = (cause = '') => CODES[cause] ?? cause

/** The possible selections with their numbers of orders: all, by store, by cause, or by store and cause. */
const choicesOf = ({ orders, groups }: Waiting) => {
  const sum = (text: string, selection: Pick<Partial<Group>, 'source' | 'cause'>, of: readonly Group[]) => {
    const count = of.reduce((total, group) => total + group.orders, 0)
    return { selection, text: t('{what}: {count} {count|order|orders}', { what: text, count }) }
  }
  const by = (nameOf: (group: Group) => string) => [...Map.groupBy(groups, nameOf)]
  const stores = by(({ source }) => source)
  const causes = by(({ cause = '' }) => cause).filter(([cause]) => cause !== '')
  return [
    { selection: {}, text: t('All: {count} {count|order|orders}', { count: orders }) },
    ...(stores.length > 1 ? stores.map(([source, of]) => sum(source, { source }, of)) : []),
    ...(causes.length > 1 ? causes.map(([cause, of]) => sum(causeText(cause), { cause }, of)) : []),
    ...(stores.length > 1 && causes.length > 1
      ? groups
          .filter(({ cause }) => cause !== undefined)
          .map(each => sum(`${each.source}, ${causeText(each.cause)}`, each, [each]))
      : []),
  ]
}

/** Asks which of the waiting orders to retry. */
export const askRetry = () =>
  attempt(async () => {
    const waiting = await request<Waiting>('GET', '/api/orders/waiting')
    const { dead } = waiting
    const isDead =
      dead > 0 &&
      t('{count} {count|order waits|orders wait} for the replay of a dead letter instead.', { count: dead })
    if (waiting.orders === 0) return toast(isDead || t('No order is waiting for an attempt.'))
    const choices = choicesOf(waiting)
    ask({
      title: t('Retry orders now'),
      text: [
        t('The worker retries failing events and sends refused requests again, twenty orders per second.'),
        waiting.groups.some(({ cause }) => cause === 'unavailable') &&
          t(
            'The accounting service was unavailable when they were last tried. Orders that still find it unavailable continue to wait.',
          ),
        isDead,
      ]
        .filter(Boolean)
        .join(' '),
      fields: [
        {
          name: 'orders',
          label: t('Orders to retry'),
          options: choices.map(({ text }, index) => [String(index), text]),
        },
      ],
      action: t('Retry now'),
      submit: async ({ text }) => {
        const { source, cause } = choices[Number(text('orders'))]?.selection ?? {}
        await act('orders/retry-all', { source, cause })
      },
    })
  })

export const RetryOrders = () => <Button onClick={askRetry}>{t('Retry now…')}</Button>

/** The progress and outcome of the last bulk retry. */
export const Retries = ({ job }: RouteData<'orders/retries'>) =>
  job && <Job job={job} stop={() => act('orders/retry-stop', {})} />
