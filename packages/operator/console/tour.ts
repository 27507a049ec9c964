import { credentialsIn } from '@order-relay/local/credentials.ts'
import { acts, SOURCE } from '@order-relay/local/demo/acts.ts'
import { type Parties, partiesOf } from '@order-relay/local/demo/parties.ts'
import { settingsOfStack, urlOf } from '@order-relay/local/settings.ts'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import { get, post } from './route.ts'

/** The actions of the tour's steps, with the relay's responses to the store. */
const STEPS = {
  send: acts.order,
  outage: acts.outage,
  async review(parties: Parties, order: string) {
    await acts.review(parties, order)
    return acts.payInReview(parties, order)
  },
  async fix(parties: Parties, order: string) {
    await acts.fix(parties, order)
    return undefined
  },
}

const names = Object.keys(STEPS) as (keyof typeof STEPS)[]

/** A guided tour with real orders, on the local stack only. */
export const tourRoutes = (context: Context) => {
  /** The demo's store, or the first store that is not exact. */
  const sourceOf = () => {
    if (!context.local)
      throw cannot('show the tour', 'it sends orders, which is possible only on the local stack')
    const stores = context.stores().filter(({ exact }) => !exact)
    const store = stores.find(({ source }) => source === SOURCE) ?? stores[0]
    if (store !== undefined) return store.source
    throw cannot('show the tour', 'every store in stores.yml is exact', 'add one that is not')
  }
  return [
    get('tour', {}, async () => {
      const source = sourceOf()
      const { accountingUrl, apiUrl } = await context.stack()
      return { source, panel: accountingUrl, reference: `${apiUrl}/docs` }
    }),
    post('tour/step', { step: v.picklist(names), order: v.string() }, async ({ step, order }) => {
      const source = sourceOf()
      const { apiUrl, accountingUrl } = await context.stack()
      const sqs = urlOf(settingsOfStack(context.terminal.environment).ports.sqs)
      const parties = partiesOf(
        { relay: apiUrl, sandbox: accountingUrl, sqs },
        source,
        credentialsIn(context.dataDir),
      )
      try {
        const answered = await STEPS[step](parties, order)
        const { status, state } = answered?.body ?? {}
        return { answer: answered?.answer, said: String(state ?? status ?? '') }
      } finally {
        parties.close()
      }
    }),
  ]
}
