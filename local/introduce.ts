import { join } from 'node:path'
import { SSMClient } from '@aws-sdk/client-ssm'
import { readStores } from '../deploy/stores.ts'
import { CREDENTIALS } from './functions-environment.ts'
import { keepAccountingKey, keepStoreKeys, keepWebhookSecret, registerWebhook } from './registration.ts'

const STORES = join(import.meta.dirname, '../stores.yml')
const SECRETS_PATH = '/order-relay/local'
const SANDBOX_KEY = 'sandbox-key'

/**
 * Tells sandbox and relay of each other, as one would in the panel and in the cloud console, and returns the
 * secret of the webhook.
 */
export const introduce = async (urls: { relay: string; sandbox: string; ssm: string }) => {
  // The region is part of the signature only, which nobody checks here.
  const ssm = new SSMClient({ region: 'eu-central-1', endpoint: urls.ssm, credentials: CREDENTIALS })
  try {
    await keepAccountingKey(ssm, SECRETS_PATH, SANDBOX_KEY)
    const stores = readStores(STORES)
    await keepStoreKeys(
      ssm,
      SECRETS_PATH,
      stores.map(({ source }) => source),
    )
    const webhookSecret = await registerWebhook({
      accountingUrl: urls.sandbox,
      apiKey: SANDBOX_KEY,
      webhookUrl: `${urls.relay}/webhook`,
    })
    await keepWebhookSecret(ssm, SECRETS_PATH, webhookSecret)
    return webhookSecret
  } finally {
    ssm.destroy()
  }
}
