import { randomUUID } from 'node:crypto'
import { InvalidArgumentError, Option } from '@commander-js/extra-typings'
import { isOk } from '@order-relay/lib/platform/http-client.ts'
import { orderResult } from '@order-relay/lib/protocol/order.ts'
import { STATUSES } from '@order-relay/lib/protocol/status.ts'
import { ORDER_UPDATED } from '@order-relay/lib/protocol/webhook.ts'
import * as v from 'valibot'
import { within } from './core/async.ts'
import type { Cli } from './core/command.ts'
import type { Context } from './core/context.ts'
import { cannot, usageError } from './core/errors.ts'
import { duration } from './core/options.ts'
import { shellWord } from './core/output.ts'
import { confirmName, readInput, readSecret } from './core/terminal.ts'
import { envelopeOf, jsonOf, nowSeconds, sendWebhook } from './core/webhook.ts'
import { ordersOf } from './model/read.ts'
import { newestRegistration, registerCommandFor, webhookUrlOf } from './registration.ts'

const SECRET_VARIABLE = 'RELAY_WEBHOOK_SECRET'

const matching = (pattern: RegExp, expected: string) => (text: string) => {
  if (!pattern.test(text)) throw new InvalidArgumentError(`Expected ${expected}.`)
  return text
}
const rials = matching(/^\d+$/, 'an amount in rials, digits only')
const integer = (text: string) => Number(matching(/^\d{1,15}$/, 'a whole number')(text))
const seconds = (text: string) => Number(matching(/^-?\d{1,9}$/, 'a whole number of seconds')(text))

const commandOf = ({ program }: Cli) =>
  program
    .command('send')
    .description(
      'Sign a webhook, send it, and print the response. The relay treats it as genuine: it updates the order and notifies the store. Asks for the number of an order that the relay already has, to confirm. The exit code is 1 unless the status of the response is 2xx.',
    )
    .argument('[url]', "webhook URL (default: the one registered, else the deployment's own)")
    .option('--file <file>', 'send the bytes of this file instead of a body built from the options below')
    .option('--source <source>', 'source of the store', 'api')
    .option('--external-id <id>', "the order's number in the store")
    .addOption(new Option('--status <status>', 'status of the order').choices(STATUSES).default('paid'))
    .option('--total <rials>', 'invoice total', rials, '1000')
    .option('--invoice-number <number>', 'number of the invoice', integer, 1)
    .option('--receipt-number <number>', 'number of the receipt (default: invoice number if paid)', integer)
    .option('--return-number <number>', 'number of the return (default: invoice number if refunded)', integer)
    .option('--error <text>', 'reason for needs_review')
    .option('--event <event>', 'name of the event', ORDER_UPDATED)
    .option('--delivery <uuid>', 'id of the delivery (default: random)')
    .option('--age <seconds>', 'backdate the signature by this many seconds', seconds, 0)
    .option('--wait <duration>', 'wait up to this long for the order to have the status', duration)
    .option('--yes <number>', 'the number of the order, for scripts')
    .option('--secret-stdin', 'read the secret from standard input, or prompt for it')
    .addHelpText(
      'after',
      `\nSigns with the secret of --secret-stdin, else of the variable ${SECRET_VARIABLE}, else with the stored one of the URL.`,
    )

type Options = ReturnType<ReturnType<typeof commandOf>['opts']>

/** A delivery built from these options, or with a given body. */
type Sending = { [Name in keyof Options]: Options[Name] | undefined } & Pick<Options, 'age' | 'event'> & {
    body?: Buffer | undefined
    secret?: string | undefined
  }

/** An order result as the service sends it (spec: Order result). */
const resultOf = ({ source, externalId, status, total, invoiceNumber, ...optional }: Sending) => ({
  source,
  external_id: externalId,
  status,
  status_display: status,
  total,
  invoice_number: invoiceNumber,
  invoice_status: status === 'needs_review' ? 'draft' : 'posted',
  receipt_number: optional.receiptNumber ?? (status === 'paid' ? invoiceNumber : null),
  return_number: optional.returnNumber ?? (status === 'refunded' ? invoiceNumber : null),
  error: optional.error ?? (status === 'needs_review' ? 'insufficient stock' : null),
})

const bodyOf = (options: Sending): Buffer => {
  const { body, event, delivery = randomUUID(), externalId } = options
  if (body !== undefined) return body
  if (externalId === undefined) {
    const remedy = 'name one with --external-id, or pass a whole body with --file'
    throw usageError('send a webhook', 'no order is given', remedy)
  }
  return Buffer.from(JSON.stringify({ event, data: resultOf(options), delivery }))
}

const secretFor = async (context: Context, url: string): Promise<string> => {
  const { [SECRET_VARIABLE]: given } = context.terminal.environment
  if (given !== undefined && given !== '') return given
  const newest = await newestRegistration(context, url)
  if (newest !== undefined) return newest.secret
  const remedy = `set ${SECRET_VARIABLE}, pipe one in with --secret-stdin, or register: ${registerCommandFor(context, url)}`
  throw cannot('sign the webhook', `no secret is stored for ${url}`, remedy)
}

/** Waits until the relay has processed a webhook: its order then has the status. */
const waitUntilProcessed = async (context: Context, body: Buffer, seconds: number) => {
  const parsed = v.safeParse(v.object({ data: orderResult }), jsonOf(body))
  if (!parsed.success) throw cannot('wait for the webhook', 'its body names no order and status')
  const { source, external_id, status } = parsed.output.data
  const orders = await ordersOf(context)
  const isProcessed = await within({ wait: seconds }, async () => {
    const stored = await orders.get({ source, external_id })
    return stored?.order.result?.status === status || undefined
  })
  if (isProcessed) return
  const found = `the order is not "${status}" after ${seconds} s`
  const remedy = `see relay tail --since 10m --order ${shellWord(external_id)}${context.flags}`
  throw cannot('confirm that the webhook was processed', found, remedy)
}

/** The name of the secret in a sentence. */
export const WEBHOOK_SECRET = 'the webhook secret'

/** Signs a webhook and sends it. */
export const send = async (context: Context, given: string | undefined, options: Sending) => {
  const url = await webhookUrlOf(context, given)
  const body = bodyOf(options)
  const secret = options.secret ?? (await secretFor(context, url))
  // The webhook function refuses headers that contradict the body; an unreadable body contradicts none.
  const envelope = envelopeOf(body)
  const event = envelope.event ?? options.event
  const delivery = envelope.delivery ?? options.delivery ?? randomUUID()
  const response = await sendWebhook({ url, body, secret, event, delivery, t: nowSeconds() - options.age })
  const taken = isOk(response.status)
  if (taken && options.wait !== undefined) await waitUntilProcessed(context, body, options.wait)
  return {
    data: {
      url,
      event,
      delivery,
      taken,
      status: response.status,
      answer: jsonOf(response.body) ?? response.body,
    },
    ok: taken,
    text: `${response.status} ${response.body}\ndelivery ${delivery}`,
  }
}

/** Asks before a test changes an order that the relay has. A file may have any body; its author is not asked. */
const confirmExisting = async (
  context: Context,
  { source, externalId, yes }: Pick<Sending, 'externalId' | 'yes'> & Pick<Options, 'source'>,
) => {
  if (externalId === undefined) return
  const stored = await (await ordersOf(context)).get({ source, external_id: externalId })
  if (stored === undefined) return
  await confirmName(context.terminal, `change ${externalId}, an order of ${source}`, externalId, yes)
}

/** `relay send`: a signed webhook, as the accounting service would send it. */
export const sendCommand = (cli: Cli): void => {
  commandOf(cli).action(
    cli.run(async (context, given, { file, secretStdin, yes, ...options }) => {
      const url = await webhookUrlOf(context, given)
      if (file === undefined) await confirmExisting(context, { ...options, yes })
      const body = file === undefined ? undefined : await readInput(file)
      const secret = secretStdin ? await readSecret(context.terminal, WEBHOOK_SECRET) : undefined
      return send(context, url, { ...options, body, secret })
    }),
  )
}
