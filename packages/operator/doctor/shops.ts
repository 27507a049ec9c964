import type { Context } from '../core/context.ts'
import { type Finding, say } from '../core/findings.ts'
import { note, ok, problem, shellWord } from '../core/output.ts'
import { shopOf } from '../woo/status.ts'

/** A shop that has not been polled for this long is a problem; polls run every two minutes. */
const POLLED_MS = 30 * 60_000

/** A finding about a store's WooCommerce shop; undefined for a store without one. */
const shop = async (context: Context, source: string): Promise<Finding | undefined> => {
  const found = await shopOf(context, source)
  if (found === undefined) return undefined
  const { shop: url, since, failure, canWrite, webhooks, needs, polled, synchronized } = found
  const word = `${shellWord(source)}${context.flags}`
  const check = say('shop', { source })
  if (failure !== undefined) {
    const remedy = say('check-shop', {
      command: `relay woo connect ${shellWord(source)} --shop ${url}${context.flags}`,
    })
    return problem(check, say('shop-unreachable', { url, reason: { foreign: failure } }), remedy)
  }
  const off = webhooks.filter(({ status }) => status !== 'active')
  const states = off.map(({ topic, status }) => `${topic} (${status})`).join(', ')
  const state = say('shop-state', {
    url,
    synchronized: synchronized ?? '-',
    polled: polled ?? '-',
    count: needs.length,
    webhooks: off.length === 0 ? say('webhooks-active', { count: webhooks.length }) : states,
    access: say(canWrite === false ? 'reads' : 'reads-and-writes'),
  })
  if (canWrite === false) return problem(check, state, say('allow-writing'))
  if (off.some(({ status }) => status === 'missing'))
    return problem(check, state, say('connect-again', { command: `relay woo connect ${word} --shop ${url}` }))
  if (off.length > 0) return problem(check, state, say('activate-webhooks'))
  if (Date.now() - Date.parse(polled ?? since) > POLLED_MS) return problem(check, state, say('see-poll'))
  return needs.length === 0 ? ok(check, state) : note(check, state, `relay woo list ${word}`)
}

/** The connected WooCommerce shops. */
export const shops = async (context: Context): Promise<Finding[]> => {
  const found = await Promise.all(context.stores().map(({ source }) => shop(context, source)))
  return found.flatMap(each => each ?? [])
}
