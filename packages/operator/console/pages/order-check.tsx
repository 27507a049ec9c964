import { messageOf, request } from '@order-relay/web/http.ts'
import { hideToast, toast } from '@order-relay/web/notices.ts'
import { Ago, Button, Moment } from '@order-relay/web/pieces.tsx'
import { refresh, useResources } from '@order-relay/web/resources.ts'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ORDER_CHANGES, OVERVIEW, type RouteData, reads } from './api.ts'
import { t } from './persian.ts'
import { Message, textOf } from './pieces.tsx'

type Key = { source: string; external_id: string }

/** A check that is being requested, waits in the order queue, or has been made. */
type Check = 'requested' | RouteData<'orders/check'> | { made: string }

/** The last check of each order that was requested on this page. */
const checks = signal<ReadonlyMap<string, Check>>(new Map())

const nameOf = ({ source, external_id }: Key) => JSON.stringify([source, external_id])

const keep = (order: Key, check: Check | undefined) => {
  const kept = new Map(checks.value)
  if (check === undefined) kept.delete(nameOf(order))
  else kept.set(nameOf(order), check)
  checks.value = kept
}

const confirmation = ({ effect }: RouteData<'orders/check'>) =>
  `${t('The check is in the order queue.')} ${textOf(effect)}`

/** Requests a check of an order, which is acknowledged before the request is answered. */
export const check = async ({ source, external_id }: Key) => {
  const before = checks.value.get(nameOf({ source, external_id }))
  keep({ source, external_id }, 'requested')
  try {
    const body = { source, external_id }
    const requested = await request<RouteData<'orders/check'>>('POST', '/api/orders/check', body)
    keep(body, requested)
    toast(confirmation(requested))
    await refresh()
  } catch (error) {
    keep({ source, external_id }, before)
    toast(messageOf(error), 'bad')
  }
}

const Queued = ({ order, check }: { order: Key; check: RouteData<'orders/check'> }) => {
  const { delivery, since } = check
  const { data } = useResources({ check: reads('order/check', { delivery, since }, ...ORDER_CHANGES) })
  const { at, message } = data?.check.last ?? {}
  const isMade = message === 'event processed'
  useEffect(() => {
    if (!isMade || at === undefined) return
    hideToast(confirmation(check))
    keep(order, { made: at })
  }, [isMade, at])
  if (message === 'event retried' && at !== undefined)
    return t('The check failed {time} and is retried.', { time: <Ago iso={at} /> })
  if (message === 'event deferred')
    return t('A check was requested {time} and waits in the bulk queue.', { time: <Ago iso={since} /> })
  return t('A check was requested {time} and waits in the order queue.', { time: <Ago iso={since} /> })
}

/** Whether a check of the order was requested on this page, and when it was made. */
export const CheckState = (order: Key) => {
  const last = checks.value.get(nameOf(order))
  if (last === undefined) return null
  return (
    <p class="small muted note" role="status">
      {last === 'requested' && t('Requesting a check…')}
      {typeof last === 'object' &&
        ('made' in last ? (
          t('Checked {time}.', { time: <Ago iso={last.made} /> })
        ) : (
          <Queued key={last.delivery} order={order} check={last} />
        ))}
    </p>
  )
}

/**
 * While webhooks are refused or the webhook is not registered: since when the order may have changed at the service, and
 * an action that reads it. Nothing if it was read after the last refusal.
 */
export const MissedWebhooks = ({ updated_at, ...order }: Key & { updated_at: string }) => {
  const { data } = useResources({ overview: OVERVIEW })
  const last = checks.value.get(nameOf(order))
  const made = typeof last === 'object' && 'made' in last ? last.made : updated_at
  const read = made > updated_at ? made : updated_at
  const { cause, until } = data?.overview.signatures?.missing ?? {}
  if (cause === undefined || (until !== undefined && until < read)) return null
  return (
    <div class="verdict card" data-tone="wait" role="status">
      <p>
        {t('This order may have changed at the accounting service since {time}: {cause}.', {
          time: <Moment iso={read} />,
          cause: <Message text={cause} />,
        })}
      </p>
      <Button kind="small" onClick={() => check(order)}>
        {t('Check now')}
      </Button>
    </div>
  )
}
