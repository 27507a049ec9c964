import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import { TOLERANCE_SECONDS } from '@order-relay/lib/protocol/signature.ts'
import { STATUSES } from '@order-relay/lib/protocol/status.ts'
import { ORDER_UPDATED } from '@order-relay/lib/protocol/webhook.ts'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { shellWord } from '../core/output.ts'
import { validSecret } from '../core/terminal.ts'
import { CHECKS, diagnose } from '../doctor/doctor.ts'
import { explainDelivery } from '../explain-signature.ts'
import { API_KEY, saveKey } from '../key.ts'
import {
  register,
  registerAgainCommandFor,
  registrationsOf,
  unregister,
  webhookUrlOf,
} from '../registration.ts'
import { LEAD_SECONDS, rotate } from '../rotation.ts'
import { keptSecrets } from '../secret-in-use.ts'
import { send, WEBHOOK_SECRET } from '../send.ts'
import type { Audits } from './audit.ts'
import { createJobs } from './jobs.ts'
import type { Live } from './live.ts'
import { confirmName, get, post } from './route.ts'

/** The command that redeploys this relay or starts the local stack. */
const deployCommand = ({ local, stage, region }: Context, accountingUrl: string) =>
  local
    ? 'npm start'
    : `ACCOUNTING_URL=${shellWord(accountingUrl)} npx serverless deploy --stage ${stage} --region ${region}`

/** The registration with the accounting service. */
const serviceOf = async (context: Context) => {
  const { parameters } = context
  const [url, { accountingUrl }, key] = await Promise.all([
    webhookUrlOf(context, undefined),
    context.stack(),
    parameters.get(PARAMETERS.accountingKey),
  ])
  const { ofUrl } = await registrationsOf(context, url)
  return {
    url,
    accountingUrl,
    hasKey: key !== undefined,
    flags: context.flags,
    deploy: deployCommand(context, accountingUrl),
    secrets: ofUrl.map(({ id, since }) => ({ id, since })),
    kept: await keptSecrets(context, ofUrl, registerAgainCommandFor(context, url)),
    // The defaults of `relay rotate`.
    rotation: { lead: LEAD_SECONDS, overlap: TOLERANCE_SECONDS },
  }
}

const url = v.string()
const seconds = v.pipe(v.number(), v.integer(), v.minValue(0))
const number = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const text = v.optional(v.string())
const time = v.optional(
  v.pipe(v.string(), v.isoTimestamp('Received must be a time such as 2026-11-22T08:00:00Z')),
)

/** Polling intervals, in milliseconds. */
const EVERY = { local: 2000, aws: 60_000 }

/** The keys and secrets without their values, and when each was set: what shows that a command has changed one. */
const parametersOf = async ({ parameters }: Context) => {
  const { webhookSecrets, storeKeys, feedSecrets, accountingKey, webhookUrl } = PARAMETERS
  const folders = [webhookSecrets, storeKeys, feedSecrets].map(async folder =>
    (await parameters.below(folder)).map(({ name, modified }) => ({ name: `${folder}/${name}`, modified })),
  )
  const single = [accountingKey, webhookUrl].map(async name => {
    const found = await parameters.find(name)
    return found ? [{ name, modified: found.modified }] : []
  })
  return (await Promise.all([...folders, ...single])).flat()
}

/** The job name of changes to the webhook's registration: one at a time. */
const WEBHOOK = 'webhook'

/** The findings of `relay doctor`, and the commands that set up or test the accounting service's webhook. */
export const setupRoutes = (context: Context, live: Live, audits: Audits) => {
  const jobs = createJobs(context, live, WEBHOOK)
  const every = EVERY[context.local ? 'local' : 'aws']
  const parameters = live.poll('parameters', every, () => parametersOf(context))
  // Webhooks show which secret is in use.
  live.poll('kept-secrets', every, async () => (await serviceOf(context)).kept)
  /** The secret that the last job left in use, according to its outcome. */
  let inUse: string | undefined
  const change = (
    action: string,
    work: (context: Context, signal: AbortSignal) => Promise<{ text: string; secret?: string }>,
  ) =>
    jobs.start(WEBHOOK, action, async (context, signal) => {
      inUse = undefined
      const outcome = await work(context, signal)
      inUse = outcome.secret
      return outcome
    })
  return [
    get('setup', {}, async function* () {
      const all = Object.keys(CHECKS).length
      let done = 0
      yield { done, all, findings: [] }
      for await (const findings of diagnose(context, undefined, audits.covered(), jobs.of(WEBHOOK)))
        yield { done: ++done, all, findings }
    }),
    get('service', {}, async () => {
      const service = await serviceOf(context)
      // A command may have deleted the secret since.
      const isOutdated = inUse !== undefined && service.secrets.every(({ id }) => id !== inUse)
      return { ...service, job: isOutdated ? undefined : jobs.of(WEBHOOK) }
    }),
    get('parameters', {}, parameters),
    post('key', { key: v.string(), check: v.boolean() }, async ({ key, check }) => {
      return (await saveKey(context, validSecret(key, API_KEY), { check })).data
    }),
    post('webhook/register', { url, again: v.boolean(), check: v.boolean() }, async options =>
      change('register the webhook', async (context, signal) => {
        const { text, data } = await register(context, { ...options, signal })
        return { text, secret: data.secret }
      }),
    ),
    post('webhook/rotate', { url, lead: seconds, overlap: seconds, wait: v.boolean() }, async options =>
      change('rotate the webhook secret', async (context, signal) => {
        const { text, data } = await rotate(context, { ...options, signal })
        return { text, secret: data.fresh }
      }),
    ),
    post('webhook/unregister', { url, name: v.string() }, async ({ url, name }) => {
      confirmName('unregister the webhook', url, name)
      change('unregister the webhook', context => unregister(context, { url }))
    }),
    post('webhook/stop', {}, async () => jobs.stop(WEBHOOK)),
    post(
      'send',
      {
        url,
        source: v.string(),
        externalId: text,
        status: v.picklist(STATUSES),
        error: text,
        total: number,
        invoiceNumber: number,
        event: text,
        delivery: text,
        body: text,
        secret: text,
        receiptNumber: v.optional(number),
        returnNumber: v.optional(number),
        age: v.pipe(v.number(), v.integer()),
        wait: seconds,
      },
      async ({ url, event = ORDER_UPDATED, total, wait, body, secret, ...options }) => {
        const { data } = await send(context, url, {
          ...options,
          event,
          total: String(total),
          wait: wait > 0 ? wait : undefined,
          body: body === undefined ? undefined : Buffer.from(body, 'base64'),
          secret: secret === undefined ? undefined : validSecret(secret, WEBHOOK_SECRET),
        })
        return data
      },
    ),
    post(
      'signature',
      { signature: v.string(), body: v.string(), secret: v.string(), receivedAt: time },
      async ({ signature, body, secret, receivedAt }) => {
        const { data } = await explainDelivery({
          signature,
          body: Buffer.from(body, 'base64'),
          secret: validSecret(secret, 'the secret'),
          receivedAt: receivedAt === undefined ? undefined : new Date(receivedAt),
        })
        return data
      },
    ),
  ]
}
