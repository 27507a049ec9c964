import { Option } from '@commander-js/extra-typings'
import { FEED_TEST } from '@order-relay/lib/feeds/deliver.ts'
import { textOf } from '../core/coded.ts'
import type { Cli } from '../core/command.ts'
import { expiry, ORDER, positive, since } from '../core/options.ts'
import { confirmName } from '../core/terminal.ts'
import { ERROR_HOURS } from '../feeds/failing.ts'
import { RESEND_RATE, resendOrders } from '../orders/resend.ts'
import { createKey, KEY_DELAY_SECONDS, revokeConfirmed, setSecret, writeIndexes } from './credentials.ts'
import { testFeed } from './feed-check.ts'
import { listStores, showStore } from './stores.ts'

/** `relay stores`: the stores, their keys and their feeds. */
export const storesCommands = ({ program, run }: Cli): void => {
  const stores = program
    .command('stores')
    .description('Manage the keys and feeds of the stores in stores.yml.')
  const ofStore = (name: string, description: string) =>
    stores.command(name).description(description).argument('<source>', 'source of the store')
  stores
    .command('list')
    .description(
      'List the stores with their feeds and queues, the numbers of waiting messages and of dead letters, and their keys.',
    )
    .option(
      '--errors',
      `include the last error of each HTTP feed in the log of the last ${ERROR_HOURS} hours`,
    )
    .action(run((context, options) => listStores(context, options)))
  ofStore(
    'show',
    "Show a store's keys, with the hour in which each was last used, and its feed: its queue with policy, consumers, and the numbers of waiting messages and of dead letters; and for its developer: the code of a consumer or receiver (for an exact store, also a sample message), and the policy of the consumer's role.",
  ).action(run((context, source) => showStore(context, source)))
  ofStore(
    'key',
    `Create a key for the stores' API. It is shown once, alone on standard output; only its hash is stored. It works within ${KEY_DELAY_SECONDS} seconds.`,
  )
    .option('--name <text>', 'name of the key, by which it can be revoked')
    .option('--expires <when>', 'when the key stops working: 90d, or a date', expiry)
    .option('--read-only', 'create a key that can read orders, but not create, pay, refund or withdraw them')
    .addOption(
      new Option(
        '--create-only',
        'create a key that can create orders without a payment, and nothing else',
      ).conflicts('readOnly'),
    )
    .action(
      run((context, source, { readOnly, createOnly, ...options }) => {
        const kind = readOnly ? 'read-only' : createOnly ? 'create-only' : 'full'
        return createKey(context, source, { ...options, kind })
      }),
    )
  ofStore(
    'revoke',
    'Revoke a key. If it was used within the last day and no other full key was, the store loses its access: type the name of the key to confirm, or its id if it has none.',
  )
    .argument('<key>', 'name or id of the key, as listed by relay stores show')
    .option('--yes <name>', 'the name or id of the key, for scripts')
    .action(
      run((context, source, key, { yes }) =>
        revokeConfirmed(context, source, key, (action, name) =>
          confirmName(context.terminal, action, name, yes),
        ),
      ),
    )
  stores
    .command('index')
    .description(
      'Write the index from which the functions read keys and secrets, in case parameters were changed by hand.',
    )
    .action(run(writeIndexes))
  ofStore(
    'secret',
    'Create the secret that signs the messages of an HTTP feed, or replace it. It is shown once, alone on standard output; the previous one remains in use for a day. To replace it again within that day, type the source of the store to confirm: the oldest secret stops signing.',
  )
    .option('--stdin', 'read the secret from standard input, or prompt for it, instead of creating one')
    .option('--yes <source>', 'the source of the store, for scripts')
    .action(
      run((context, source, { yes, ...options }) =>
        setSecret(context, source, options, (action, name) =>
          confirmName(context.terminal, action, name, yes),
        ),
      ),
    )
  ofStore(
    'test',
    `Send a signed message with the event ${FEED_TEST} to an HTTP feed and show the response: its status, duration and the first 2000 bytes of its body. The exit code is 1 unless the status is 2xx. Not for exact stores, whose interface has no such event.`,
  ).action(
    run(async (context, source) => {
      const { data, ...report } = await testFeed(context, source)
      return { ...report, data: { ...data, remedy: data.remedy && textOf(data.remedy) } }
    }),
  )
  ofStore(
    'resend',
    'Publish the current state of orders again, each with a new version, after a store has lost its data. Safe to repeat; if interrupted, it prints how to continue.',
  )
    .option(
      '--since <when>',
      'orders changed since: 2h, 7d, or a date; either this or --order is required',
      since,
    )
    .addOption(ORDER)
    .option('--after <external_id>', 'continue after this order')
    .option('--rate <number>', 'orders per second', positive, RESEND_RATE)
    .action(run(resendOrders))
}
