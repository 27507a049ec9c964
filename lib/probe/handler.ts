import { DeleteMessageBatchCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import middy from '@middy/core'
import type { ScheduledEvent } from 'aws-lambda'
import type { Sqs, Ssm } from '../platform/clients.ts'
import { invocation, MINUTE, type Runtime, type Settings, unixSeconds } from '../platform/environment.ts'
import { type HttpClient, isOk } from '../platform/http-client.ts'
import { PARAMETERS, PROBE_SOURCE } from '../platform/names.ts'
import { parametersBelow } from '../platform/parameters.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import { deliveryHeaders, ORDER_UPDATED, SENDER_TIMEOUT_SECONDS } from '../protocol/webhook.ts'

export type ProbeDependencies = Pick<Runtime, 'now'> & {
  sqs: Sqs
  ssm: Ssm
  http: HttpClient
  telemetry: Telemetry
  settings: Pick<Settings, 'secretsPath' | 'probeQueueUrl' | 'webhookUrl'>
  /** A UUID. */
  newId: () => string
}

/** Maximum time from the webhook to the feed, in milliseconds. */
export const PATIENCE_MS = MINUTE * 1000

/** In seconds; less than the SDK's time limit for an attempt. */
const POLL_SECONDS = 1

/**
 * Probes the relay from end to end: sends a signed webhook of a new order to the public URL, as the accounting service
 * does, and waits for its message in the feed of the store {@link PROBE_SOURCE}. The order is paid, so it is settled and
 * never leads to a call to the accounting service.
 */
export const createProbe = ({ sqs, ssm, http, telemetry, settings, now, newId }: ProbeDependencies) => {
  const { probeQueueUrl: QueueUrl } = settings
  const { origin, pathname: path } = new URL(settings.webhookUrl)
  const readSecrets = parametersBelow(ssm, `${settings.secretsPath}/${PARAMETERS.webhookSecrets}`)

  const send = async (delivery: string) => {
    const secret = Object.values(await readSecrets())
    if (secret.length === 0) throw new Error('Cannot probe the relay: no webhook is registered')
    const data = { source: PROBE_SOURCE, external_id: delivery, status: 'paid' }
    const body = JSON.stringify({ event: ORDER_UPDATED, data, delivery })
    const headers = deliveryHeaders({ secret, t: unixSeconds(now()), body, event: ORDER_UPDATED, delivery })
    const timeout = SENDER_TIMEOUT_SECONDS * 1000
    const { status } = await http({ method: 'POST', origin, path, headers, body, timeout, maxBytes: 0 })
    if (!isOk(status)) throw new Error(`Cannot probe the relay: its webhook endpoint answered ${status}`)
  }

  /** Receives and deletes the next messages of the feed, some of which may be of earlier probes. */
  const receive = async (): Promise<string[]> => {
    const polling = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: POLL_SECONDS }
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(polling))
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }))
    if (Entries.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))
    return Messages.map(({ Body = '' }) => Body)
  }

  return middy<ScheduledEvent, void>(invocation).handler(async () => {
    const delivery = newId()
    const began = now()
    await send(delivery)
    while (now() - began < PATIENCE_MS) {
      if (!(await receive()).some(body => body.includes(delivery))) continue
      telemetry.info('probe seen', { delivery, ms: now() - began })
      telemetry.count('ProbeSeen')
      return
    }
    throw new Error(`The probe ${delivery} did not reach its feed within ${PATIENCE_MS / 1000} seconds`)
  })
}
