import { accountingClient } from '../../lib/accounting/client.ts'
import { cannot } from '../failure.ts'
import { accessOf } from '../place/access.ts'
import { ACCOUNTING_KEY } from '../place/accounting.ts'
import type { Place } from '../place/place.ts'
import { act, type Relay } from '../relay-command.ts'
import type { Report } from '../report.ts'
import { readSecret } from '../secret-input.ts'

const check = async (place: Place, key: string) => {
  const { accountingUrl } = await place.deployment()
  const access = await accessOf(accountingClient({ baseUrl: accountingUrl, apiKey: async () => key }))
  if (access === 'granted') return accountingUrl
  throw 'refused' in access
    ? cannot(
        'keep the key',
        `${accountingUrl} answered ${access.refused}`,
        'give a key with the scope orders.write',
      )
    : cannot(
        'keep the key',
        `it could not be tried: ${access.unavailable}`,
        'try later, or keep it untried with --no-check',
      )
}

const set = async (place: Place, options: { check: boolean }): Promise<Report> => {
  const key = await readSecret("the accounting service's API key")
  const checkedAt = options.check ? await check(place, key) : undefined
  await place.parameters.put(ACCOUNTING_KEY, key)
  return {
    data: { kept: ACCOUNTING_KEY, checked: options.check, accounting: checkedAt },
    text: `The key is kept${checkedAt === undefined ? '' : `; ${checkedAt} accepts it, with the scope orders.write`}. The relay uses it within five minutes.`,
  }
}

/** `relay key`: the key with which the relay calls the accounting service. */
export const keyCommands = (relay: Relay): void => {
  const key = relay.command('key').description("The accounting service's API key.")
  key
    .command('set')
    .description('Keep the API key, read from standard input or asked for, after trying it.')
    .option('--no-check', 'keep it without trying it')
    .action((options, command) => act(command, place => set(place, options)))
}
