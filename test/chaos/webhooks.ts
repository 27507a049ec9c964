import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { MAX_BODY_BYTES } from '../../lib/protocol/json.ts'
import { sign, TOLERANCE_SECONDS } from '../../lib/protocol/signature.ts'
import { HEADERS, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'

type Variant = {
  answers: readonly string[]
  offBy?: number
  secret?: string
  source?: string
  padding?: number
}

/** Webhooks that are not the service's own, and how the relay may answer them. */
const KINDS = {
  new: { answers: ['200 queued'] },
  'sent twice at once': { answers: ['200 queued', '200 duplicate'] },
  'sent again': { answers: ['200 duplicate'] },
  'replayed later': { answers: ['401 unauthorized'], offBy: -TOLERANCE_SECONDS - 100 },
  'signed ahead of time': { answers: ['401 unauthorized'], offBy: TOLERANCE_SECONDS + 100 },
  'signed with another secret': { answers: ['401 unauthorized'], secret: 'whsec_other' },
  'about an order of another source': { answers: ['200 ignored'], source: 'elsewhere' },
  'too large': { answers: ['413 too_large'], padding: MAX_BODY_BYTES },
} as const satisfies Record<string, Variant>
export type Kind = keyof typeof KINDS

/** Those that forgers send while an order lives. */
export const FORGERIES = [
  ...(['replayed later', 'signed ahead of time', 'signed with another secret'] as const),
  'about an order of another source',
] as const satisfies readonly Kind[]
export type Forgery = (typeof FORGERIES)[number]

export type Data = { source: string; external_id: string; status: string }

/** An order result, as it is in a webhook. */
export const resultOf = (source: string, external_id: string, status: string): Data & object => ({
  ...{ source, external_id, status, status_display: `وضعیت: ${status}`, total: '1000', error: null },
  ...{ invoice_number: 1, invoice_status: 'posted', receipt_number: 1, return_number: 1 },
})

const answer = v.pipe(
  v.string(),
  v.parseJson(),
  v.union([v.object({ status: v.string() }), v.object({ error: v.object({ code: v.string() }) })]),
  v.transform(body => ('status' in body ? body.status : body.error.code)),
)

const TIMEOUT_MS = 5000
const RETRY_MS = 40
const ATTEMPTS = 60

/**
 * Sends a webhook until the relay itself answers, and returns its answer.
 *
 * @param secret the secret that the service signs with
 * @throws when the answer is not a right one
 */
export const postWebhook = async (
  { url, secret }: { url: string; secret: string },
  kind: Kind,
  { delivery, data }: { delivery: string; data: Data },
): Promise<string> => {
  const { answers, offBy = 0, source = data.source, padding = 0, ...forged }: Variant = KINDS[kind]
  const text = JSON.stringify({ event: ORDER_UPDATED, data: { ...data, source }, delivery })
  const body = Buffer.from(text + ' '.repeat(padding))
  const post = async (): Promise<string | undefined> => {
    const t = Math.floor(Date.now() / 1000) + offBy
    const response = await fetch(`${url}/webhook`, {
      method: 'POST',
      headers: {
        [HEADERS.event]: ORDER_UPDATED,
        [HEADERS.delivery]: delivery,
        [HEADERS.signature]: sign({ secret: forged.secret ?? secret, t, body }),
      },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const { status } = response
    const said = v.safeParse(answer, await response.text())
    return status === 429 || status >= 500 ? undefined : `${status} ${said.success ? said.output : '?'}`
  }
  let answered: string | undefined
  for (let attempt = 0; attempt < ATTEMPTS && answered === undefined; attempt++) {
    if (attempt > 0) await sleep(RETRY_MS * attempt)
    answered = await post().catch(() => undefined)
  }
  if (answered === undefined || !answers.includes(answered))
    throw new Error(`a webhook ${kind} was answered ${answered}, not ${answers.join(' or ')}`)
  return answered
}
