import { type Context, storeNamed } from '../core/context.ts'
import { cannot, messageOf, usageError } from '../core/errors.ts'
import { interruptible } from '../core/interruptible.ts'
import { count, lines, type Report, shellWord } from '../core/output.ts'
import { pace } from '../core/pace.ts'
import { progress } from '../core/terminal.ts'
import { orderEvents, ordersOf, ordersWhere } from './orders.ts'

/** A store receives its daily messages beside it; the accounting service is not called. */
export const RESEND_RATE = 50

type Selection = {
  source: string
  /** Only the orders changed since. */
  since?: Date | undefined
  /** Only this order. */
  external_id?: string | undefined
  /** Only the orders that come after this one. */
  after?: string | undefined
}

/** The numbers of the selected orders, in the order of the table. */
const select = async (context: Context, { source, external_id, ...filter }: Selection): Promise<string[]> => {
  if (external_id === undefined) {
    const ids: string[] = []
    // Without a revision, a create is only announced.
    for await (const { order, revision } of ordersWhere(context, { source, ...filter }))
      if (revision > 0) ids.push(order.external_id)
    return ids
  }
  if ((await (await ordersOf(context)).get({ source, external_id })) !== undefined) return [external_id]
  throw cannot('resend the order', `the relay has no order "${external_id}" of "${source}"`)
}

/**
 * Has the worker publish the present state of orders to their store's feed once more, each with its next version.
 *
 * @returns how many of the selected orders were passed to the worker, and the last of them; fewer than `total` when
 *   `signal` was aborted
 * @throws Failure that says how far it came
 * @public the console calls it
 */
export const resend = async (
  context: Context,
  {
    rate,
    onProgress = () => undefined,
    signal,
    ...selection
  }: Selection & {
    /** Orders a second. */
    rate: number
    /** Called with the number of orders that are selected, and again after each that was passed on. */
    onProgress?: (sent: number, total: number) => void
    signal?: AbortSignal
  },
): Promise<{ sent: number; total: number; last: string | undefined }> => {
  const { source } = storeNamed(context, selection.source)
  const ids = await select(context, selection)
  const enqueue = await orderEvents('order.resend', context)
  const inTime = pace(rate)
  let sent = 0
  const reached = () => ({ sent, total: ids.length, last: ids[sent - 1] })
  onProgress(0, ids.length)
  for (const external_id of ids) {
    await inTime()
    if (signal?.aborted) break
    await enqueue({ source, external_id }).catch(error => {
      const { last } = reached()
      const found = `${count(sent, 'order')} of ${ids.length} passed to the worker, then: ${messageOf(error)}`
      const remedy = last === undefined ? 'run it again' : `continue with --after ${shellWord(last)}`
      throw cannot('resend all orders', found, remedy, error)
    })
    onProgress(++sent, ids.length)
  }
  return reached()
}

type Options = {
  since?: Date | undefined
  order?: string | undefined
  after?: string | undefined
  rate: number
}

/** `relay stores resend`. */
export const resendOrders = async (context: Context, source: string, options: Options): Promise<Report> => {
  const { since, order: external_id, after, rate } = options
  if ((since === undefined) === (external_id === undefined)) {
    throw usageError('resend orders', 'it takes one of --since and --order', 'pass --since 7d, for example')
  }
  let shown: ReturnType<typeof progress> | undefined
  try {
    const onProgress = (done: number, all: number) => {
      if (shown === undefined) shown = progress(context.terminal, 'Resending orders', all)
      else if (done > 0) shown.advance()
    }
    const selection = { source, since, external_id, after, rate, onProgress }
    const { sent, total, last } = await interruptible(signal => resend(context, { ...selection, signal }))
    const from = last ?? after
    const next = from === undefined ? '' : ` --after ${shellWord(from)}`
    const command = `relay stores resend ${shellWord(source)} --since ${since?.toISOString()}${next}${context.flags}`
    return {
      data: { source, sent, total, last },
      ok: sent === total,
      text: lines(
        `${count(sent, 'order')} of "${source}" passed to the worker, which publishes their present state.`,
        sent < total && `Interrupted: ${total - sent} remain; continue with ${command}`,
      ),
    }
  } finally {
    shown?.[Symbol.dispose]()
  }
}
