import { randomUUID } from 'node:crypto'
import {
  DeleteParametersCommand,
  PutParameterCommand,
  paginateGetParametersByPath,
  type SSMClient,
} from '@aws-sdk/client-ssm'
import * as v from 'valibot'
import { storeKeyParameter } from '../lib/api/keys.ts'

const registered = v.looseObject({ secret: v.pipe(v.string(), v.nonEmpty()) })

/** Parameter Store deletes at most so many at once. */
const DELETE_AT_ONCE = 10

export type Registration = {
  /** Where the accounting service is, such as `http://127.0.0.1:4000`. */
  accountingUrl: string
  /** A key of it with the scope `orders.write`. */
  apiKey: string
  /** Where its webhooks shall go. */
  webhookUrl: string
}

/**
 * Registers a webhook with the accounting service and returns its signing secret (spec: Webhook
 * registration).
 *
 * @throws Error when the service refuses or answers without a secret
 */
export const registerWebhook = async (registration: Registration): Promise<string> => {
  const { accountingUrl, apiKey, webhookUrl } = registration
  const response = await fetch(`${accountingUrl}/api/v1/webhook/`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: webhookUrl }),
    signal: AbortSignal.timeout(10_000),
  })
  const text = await response.text()
  const body = v.safeParse(v.pipe(v.string(), v.parseJson(), registered), text)
  if (!response.ok || !body.success) {
    const shown = response.ok ? 'no secret' : text.slice(0, 200)
    throw new Error(`Cannot register ${webhookUrl}: ${accountingUrl} answered ${response.status} (${shown})`)
  }
  return body.output.secret
}

const put = (ssm: SSMClient, name: string, value: string) =>
  ssm.send(new PutParameterCommand({ Name: name, Value: value, Type: 'SecureString', Overwrite: true }))

const namesBelow = async (ssm: SSMClient, path: string) => {
  const names: string[] = []
  for await (const page of paginateGetParametersByPath({ client: ssm }, { Path: path })) {
    names.push(...(page.Parameters ?? []).flatMap(({ Name }) => Name ?? []))
  }
  return names
}

/**
 * Keeps a webhook's secret below `<path>/webhook-secrets`, then removes those that earlier starts kept
 * there: a registration replaces the one before. Secrets put there by hand stay.
 */
export const keepWebhookSecret = async (ssm: SSMClient, path: string, secret: string): Promise<void> => {
  const prefix = `${path}/webhook-secrets/start-`
  const name = prefix + randomUUID().slice(0, 8)
  await put(ssm, name, secret)
  const replaced = (await namesBelow(ssm, `${path}/webhook-secrets`)).filter(
    held => held.startsWith(prefix) && held !== name,
  )
  for (let at = 0; at < replaced.length; at += DELETE_AT_ONCE) {
    await ssm.send(new DeleteParametersCommand({ Names: replaced.slice(at, at + DELETE_AT_ONCE) }))
  }
}

/** Keeps the key with which the relay calls the accounting service, at `<path>/accounting-key`. */
export const keepAccountingKey = async (ssm: SSMClient, path: string, apiKey: string): Promise<void> => {
  await put(ssm, `${path}/accounting-key`, apiKey)
}

/** Gives each store the key `local-<source>` for the stores' API; its hash is kept, as everywhere. */
export const keepStoreKeys = async (
  ssm: SSMClient,
  path: string,
  sources: readonly string[],
): Promise<void> => {
  for (const source of sources) {
    await ssm.send(
      new PutParameterCommand({ ...storeKeyParameter(path, source, `local-${source}`), Overwrite: true }),
    )
  }
}
