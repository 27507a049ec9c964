import { accountingClient } from '@order-relay/lib/accounting/client.ts'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import { accessOf } from './core/accounting.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { cannot } from './core/errors.ts'
import { readSecret } from './core/terminal.ts'

const check = async ({ stack }: Context, key: string): Promise<string> => {
  const { accountingUrl } = await stack()
  const access = await accessOf(accountingClient({ baseUrl: accountingUrl, apiKey: async () => key }))
  if (access === 'granted') return accountingUrl
  if (access.code === 'unauthorized') {
    const remedy = 'use a key with the scope orders.write'
    throw cannot('store the API key', `${accountingUrl} answered ${access.message}`, remedy)
  }
  const remedy = 'try again later, or store it unchecked with --no-check'
  throw cannot('store the API key', `it could not be checked: ${access.message}`, remedy)
}

/** The name of the secret in a sentence. */
export const API_KEY = "the accounting service's API key"

/** @throws Failure if the service does not accept the key */
export const saveKey = async (context: Context, key: string, options: { check: boolean }) => {
  const checkedAt = options.check ? await check(context, key) : undefined
  await context.parameters.put(PARAMETERS.accountingKey, key)
  return {
    data: { kept: PARAMETERS.accountingKey, checked: options.check, accounting: checkedAt },
    text: `Stored the API key${checkedAt === undefined ? '' : `; ${checkedAt} accepts it, with the scope orders.write`}. It is used within 15 seconds if the service refuses the current key, otherwise within a minute.`,
  }
}

/** `relay key`: the key with which the relay calls the accounting service. */
export const keyCommands = ({ program, run }: Cli): void => {
  const key = program.command('key').description("Manage the accounting service's API key.")
  key
    .command('set')
    .description('Check the API key and store it. Reads it from standard input, or prompts for it.')
    .option('--no-check', 'store it unchecked')
    .action(
      run(async (context, options) => saveKey(context, await readSecret(context.terminal, API_KEY), options)),
    )
}
