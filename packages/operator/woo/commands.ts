import { InvalidArgumentError, Option } from '@commander-js/extra-typings'
import { settingsOfStack } from '@order-relay/local/settings.ts'
import { LANGUAGES } from '@order-relay/woocommerce/lib/cases.ts'
import { WOO_PORT } from '@order-relay/woocommerce/lib/names.ts'
import type { Cli } from '../core/command.ts'
import { periodOption, since } from '../core/options.ts'
import { check, KEY_VARIABLE } from './check.ts'
import { connect, disconnect } from './connect.ts'
import { done, importOrders, list } from './orders.ts'

const percent = (text: string): number => {
  const value = Number(text)
  if (text.trim() !== '' && value >= 0 && value <= 100) return value
  throw new InvalidArgumentError('Expected a percentage such as 10 or 8.5.')
}

const language = (description: string) =>
  new Option('--language <code>', description).choices(LANGUAGES).default('en' as const)

const KEY_HELP = `\nThe key of the shop's REST API, ck_…:cs_…, is read from the variable ${KEY_VARIABLE} or from standard input, or prompted for. The check needs read permission; the connection needs Read/Write.`

/** `relay woo start`: runs until it is stopped. */
const startLocal = async () => {
  // Slow to load and only needed here.
  const { startConnector } = await import('@order-relay/woocommerce/local.ts')
  const connector = await startConnector({
    ...settingsOfStack(process.env),
    port: Number(process.env.WOO_PORT ?? WOO_PORT),
  })
  process.stdout.write(`WooCommerce connector ready at ${connector.url}\n`)
  await new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
  })
  await connector.close()
}

/** `relay woo`: WooCommerce shops. */
export const wooCommands = ({ program, run }: Cli): void => {
  const woo = program.command('woo').description('Check and connect WooCommerce shops.')
  woo
    .command('check')
    .description(
      "Read a shop's orders and report how each would be invoiced. Writes nothing to the shop. The exit code is 1 unless the shop can be connected and every invoice has the total of its order.",
    )
    .argument('<shop>', "the shop's address, such as https://shop.example")
    .addOption(periodOption('90d'))
    .option('--until <when>', 'end of the period: 2h, 7d, or a date (default: now)', since)
    .option('--accounting <url>', 'read the settings and products of a sandbox')
    .option('--tax-rate <percent>', 'tax rate of the accounting service', percent)
    .option('--prices-exclude-tax', 'prices in the accounting service exclude tax')
    .option('--no-default-customer', 'the accounting service has no default customer')
    .option(
      '--products <file>',
      'product export of the accounting service, with the codes in the first column',
    )
    .option('--settings <file>', 'use these settings, for example an edited file from --save')
    .option('--accept-differences', 'accept invoices whose totals differ from those of the shop')
    .option('--page <file>', 'also write the report to an HTML file')
    .option('--save <file>', 'write the settings for relay woo connect to a file that you can edit')
    .addOption(language('language of the report'))
    .addHelpText('after', KEY_HELP)
    .action(run(check))
  woo
    .command('connect')
    .description(
      "Connect a shop: create its webhooks, a key of the stores' API and the feed, save the connection, and test both directions. Safe to repeat.",
    )
    .argument('<source>', 'source of the shop in stores.yml, with "feed: http"')
    .requiredOption('--shop <url>', "the shop's address, such as https://shop.example")
    .option('--settings <file>', 'settings file from relay woo check --save')
    .option('--accept-differences', 'accept invoices whose totals differ from those of the shop')
    .addOption(language('language of the notes in the shop'))
    .addHelpText('after', KEY_HELP)
    .action(run(connect))
  woo
    .command('disconnect')
    .description(
      'Disconnect a shop: remove its webhooks, its key and its feed. Notes in the shop and the stored state of its orders remain.',
    )
    .argument('<source>', 'source of the shop')
    .action(run(disconnect))
  woo
    .command('list')
    .description(
      'List the connected shops and the orders that need attention. The exit code is 1 if there are such orders.',
    )
    .argument('[source]', 'only this shop')
    .action(run(list))
  woo
    .command('done')
    .description('Remove an order from the list until it needs attention again.')
    .argument('<source>', 'source of the shop')
    .argument('<order>', 'id of the order in the shop')
    .action(run(done))
  woo
    .command('import')
    .description(
      'Send past orders of a shop through the relay, after printing how many. Repeat it to continue an import that ended early.',
    )
    .argument('<source>', 'source of the shop')
    .requiredOption('--since <when>', 'start of the period: 2h, 7d, or a date', since)
    .option('--until <when>', 'end of the period: 2h, 7d, or a date (default: now)', since)
    .option('--dry-run', 'count the orders without sending them')
    .action(run(importOrders))
  woo
    .command('start')
    .description('Run the connector on this machine, for the local stack (npm start).')
    .action(startLocal)
}
