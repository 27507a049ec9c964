import { InvalidArgumentError, Option } from '@commander-js/extra-typings'
import { LANGUAGES } from '@order-relay/woocommerce/lib/words.ts'
import type { Cli } from '../core/command.ts'
import { periodOption, since } from '../core/options.ts'
import { check, KEY_VARIABLE } from './check.ts'

const percent = (text: string): number => {
  const value = Number(text)
  if (text.trim() !== '' && value >= 0 && value <= 100) return value
  throw new InvalidArgumentError('Expected a percentage such as 10 or 8.5.')
}

/** `relay woo`: WooCommerce shops. */
export const wooCommands = ({ program, run }: Cli): void => {
  const woo = program.command('woo').description('Check and connect WooCommerce shops.')
  woo
    .command('check')
    .description(
      "Read a shop's orders, and report what would become of each as an invoice. Writes nothing to the shop. The exit code is 1 if an order does not fit.",
    )
    .argument('<shop>', "the shop's address, such as https://shop.example")
    .addOption(periodOption('90d'))
    .option('--until <when>', 'end of the period: 2h, 7d, or a date (default: now)', since)
    .option('--accounting <url>', 'read the settings and products of a sandbox')
    .option('--tax-rate <percent>', "the accounting's tax rate", percent)
    .option('--prices-exclude-tax', "the accounting's prices exclude tax")
    .option('--no-default-customer', 'the accounting has no default customer')
    .option('--products <file>', "export of the accounting's products, with their codes in the first column")
    .option('--settings <file>', 'use these settings, such as those of --save after editing')
    .option('--accept-differences', 'accept invoices whose totals differ from those of the shop')
    .option('--page <file>', 'write the report as an HTML file as well')
    .option('--save <file>', 'write the settings that relay woo connect uses, to be edited')
    .addOption(
      new Option('--language <code>', 'language of the report').choices(LANGUAGES).default('en' as const),
    )
    .addHelpText(
      'after',
      `\nThe key of the shop's REST API (read rights are enough), ck_…:cs_…, is read from standard input, prompted for, or in the variable ${KEY_VARIABLE}.`,
    )
    .action(run(check))
}
