import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { InvalidArgumentError } from '@commander-js/extra-typings'
import { ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import { cannot, wrongUsage } from '../failure.ts'
import type { Place } from '../place/place.ts'
import { jsonOf, saidBy } from '../queues/said.ts'
import { act, type Relay } from '../relay-command.ts'
import type { Report } from '../report.ts'
import { readSecret } from '../secret-input.ts'
import { nowSeconds, post } from '../webhook/post.ts'
import { registrationsOf } from '../webhook/registrations.ts'
import { webhookUrl } from '../webhook/url.ts'

const SECRET_VARIABLE = 'RELAY_WEBHOOK_SECRET'

type Fields = {
  source: string
  externalId?: string | undefined
  status: string
  total: string
  invoiceNumber: number
  receiptNumber?: number | undefined
  returnNumber?: number | undefined
  error?: string | undefined
}

type Options = Fields & {
  file?: string | undefined
  event: string
  delivery?: string | undefined
  age: number
  secretStdin?: true | undefined
}

/** An order result as the service sends it (spec: Order result). */
const resultOf = (
  { source, externalId, status, total, invoiceNumber, ...numbers }: Fields,
  external_id: string,
) => ({
  source,
  external_id: externalId ?? external_id,
  status,
  status_display: status,
  total,
  invoice_number: invoiceNumber,
  invoice_status: status === 'needs_review' ? 'draft' : 'posted',
  receipt_number: numbers.receiptNumber ?? (status === 'paid' ? invoiceNumber : null),
  return_number: numbers.returnNumber ?? (status === 'refunded' ? invoiceNumber : null),
  error: numbers.error ?? (status === 'needs_review' ? 'insufficient stock' : null),
})

const bodyOf = async ({
  file,
  event,
  delivery = randomUUID(),
  externalId,
  ...fields
}: Options): Promise<Buffer> => {
  if (file !== undefined) {
    return readFile(file).catch(error => {
      throw cannot(`read "${file}"`, error instanceof Error ? error.message : String(error))
    })
  }
  if (externalId === undefined) {
    throw wrongUsage(
      'send a webhook',
      'no order is named',
      'name one with --external-id, or give a whole body with --file',
    )
  }
  return Buffer.from(JSON.stringify({ event, data: resultOf(fields, externalId), delivery }))
}

const secretFor = async (place: Place, url: string, fromStdin: boolean): Promise<string> => {
  const { [SECRET_VARIABLE]: given } = process.env
  if (fromStdin) return readSecret('the webhook secret')
  if (given !== undefined && given !== '') return given
  const newest = (await registrationsOf(place, url)).at(-1)
  if (newest !== undefined) return newest.secret
  throw cannot(
    'sign the webhook',
    `no secret is kept for ${url}`,
    `set ${SECRET_VARIABLE}, or pipe one in with --secret-stdin, or register: relay register${place.flags}`,
  )
}

const send = async (place: Place, given: string | undefined, options: Options): Promise<Report> => {
  const url = await webhookUrl(place, given)
  const body = await bodyOf(options)
  const secret = await secretFor(place, url, options.secretStdin === true)
  // As the body says, for a receiver refuses headers that say otherwise; a broken body says nothing.
  const said = saidBy(body.toString('utf8'))
  const event = said.event ?? options.event
  const delivery = said.delivery ?? options.delivery ?? randomUUID()
  const answer = await post({ url, body, secret, event, delivery, t: nowSeconds() - options.age })
  const taken = answer.status >= 200 && answer.status < 300
  return {
    data: { url, event, delivery, taken, status: answer.status, answer: jsonOf(answer.body) ?? answer.body },
    ok: taken,
    text: `${answer.status} ${answer.body}\ndelivery ${delivery}`,
  }
}

const number = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

const digits = (text: string): string => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be rials, in digits.')
  return text
}

const seconds = (text: string): number => {
  if (!/^-?\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of seconds.')
  return Number(text)
}

/** `relay send`: a signed webhook, as the accounting service would send it. */
export const sendCommand = (relay: Relay): void => {
  relay
    .command('send')
    .description('Sign a webhook, send it, and show the answer. Exits with 1 when it was not taken.')
    .argument('[url]', "where to (default: the deployment's own webhook URL)")
    .option('--file <file>', 'send this file, byte for byte, instead of a body made of the options below')
    .option('--source <source>', 'the store', 'api')
    .option('--external-id <id>', "the order's number in the store")
    .option('--status <status>', 'status of the order: needs_review, invoiced, paid, refunded', 'paid')
    .option('--total <rials>', 'invoice total', digits, '1000')
    .option('--invoice-number <number>', 'number of the invoice', number, 1)
    .option(
      '--receipt-number <number>',
      'number of the receipt (default: that of the invoice when paid)',
      number,
    )
    .option(
      '--return-number <number>',
      'number of the return (default: that of the invoice when refunded)',
      number,
    )
    .option('--error <text>', 'reason for needs_review')
    .option('--event <event>', 'the event', ORDER_UPDATED)
    .option('--delivery <uuid>', 'id of the delivery (default: a new one)')
    .option('--age <seconds>', 'pretend to have signed so long ago', seconds, 0)
    .option('--secret-stdin', `read the secret from standard input, or ask for it`)
    .addHelpText(
      'after',
      `\nThe secret is that of --secret-stdin, else of the variable ${SECRET_VARIABLE}, else the one kept for the URL.`,
    )
    .action((url, options, command) => act(command, place => send(place, url, options)))
}
