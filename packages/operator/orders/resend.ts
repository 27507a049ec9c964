import { interruptible, pace } from '../core/async.ts'
import { type Context, storeNamed, unknownOrder } from '../core/context.ts'
import { cannot, messageOf, usageError } from '../core/errors.ts'
import { count, lines, shellWord } from '../core/output.ts'
import { progress } from '../core/terminal.ts'
import { ordersOf, ordersWhere } from '../model/read.ts'
import { orderEvents } from '../order-events.ts'

/** Leaves the store capacity for its daily messages; the accounting service is not called. */
export const RESEND_RATE = 50

type Selection = {
  source: string
  /** Only orders changed since. */
  since?: Date | undefined
  /** Only this order. */
  external_id?: string | undefined
  /** Only orders whose number sorts after this one. */
  after?: string | undefined
}

const select = async (context: Context, { external_id, ...filter }: Selection): Promise<string[]> => {
  const { source } = filter
  const ids: string[] = []
  if (external_id === undefined) {
    // Without a revision, only a failing event is recorded.
    for await (const { order, revision } of ordersWhere(context, filter))
      if (revision > 0) ids.push(order.external_id)
    return ids
  }
  if ((await (await ordersOf(context)).get({ source, external_id })) !== undefined) return [external_id]
  throw unknownOrder('resend', { source, external_id }, context)
}

type ResendOptions = Selection & {
  /** Orders per second. */
  rate: number
  /** Ends the run after the current order. */
  signal?: AbortSignal
}

/**
 * Has the worker publish the current state of orders to their store's feed again, each with a new version.
 *
 * @returns how many of the selected orders were passed to the worker, and the last of them
 * @throws Failure with the progress
 */
export const resend = async (context: Context, { rate, signal, ...selection }: ResendOptions) => {
  const { source } = storeNamed(context, selection.source)
  const ids = await select(context, selection)
  const enqueue = await orderEvents('order.resend', context)
  const inTime = pace(rate)
  let sent = 0
  using shown = progress(context.terminal, 'Resending orders', ids.length)
  try {
    for (const external_id of ids) {
      await inTime()
      if (signal?.aborted) break
      await enqueue({ source, external_id })
      sent++
      shown.advance()
    }
  } catch (error) {
    const found = `${count(sent, 'order')} of ${ids.length} passed to the worker, then: ${messageOf(error)}`
    const after = sent === 0 ? '' : ` with --after ${shellWord(ids[sent - 1] ?? '')}`
    throw cannot('resend all orders', found, `run it again${after}`, error)
  }
  return { sent, total: ids.length, last: ids[sent - 1] }
}

type Options = Pick<ResendOptions, 'since' | 'after' | 'rate'> & { order?: string | undefined }

/** `relay stores resend`. */
export const resendOrders = async (context: Context, source: string, { order, ...rest }: Options) => {
  const { since, after } = rest
  if ((since === undefined) === (order === undefined))
    throw usageError('resend orders', 'it takes one of --since and --order', 'pass --since 7d, for example')
  const options = { source, external_id: order, ...rest }
  const { sent, total, last = after } = await interruptible(signal => resend(context, { ...options, signal }))
  const next = last === undefined ? '' : ` --after ${shellWord(last)}`
  const command = `relay stores resend ${shellWord(source)} --since ${since?.toISOString()}${next}${context.flags}`
  return {
    data: { source, sent, total, last },
    ok: sent === total,
    text: lines(
      `${count(sent, 'order')} of "${source}" passed to the worker, which publishes their current state.`,
      sent < total && `Interrupted: ${total - sent} remain; continue with ${command}`,
    ),
  }
}
