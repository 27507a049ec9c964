import { randomUUID } from 'node:crypto'
import { FEED_TEST, type FeedError, httpDelivery } from '@order-relay/lib/feeds/deliver.ts'
import { assertAllowed } from '@order-relay/lib/platform/addresses.ts'
import { headerOf, httpClient, type IncomingResponse } from '@order-relay/lib/platform/http-client.ts'
import { registersItself } from '@order-relay/lib/platform/http-stores.ts'
import { HEADERS } from '@order-relay/lib/protocol/webhook.ts'
import { textOf } from '../core/coded.ts'
import { type Context, storeNamed } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import { say } from '../core/findings.ts'
import { lines, shellWord, visibleLines } from '../core/output.ts'
import { spacedJson } from '../core/webhook.ts'
import { endpointRemedy, UNVERIFIED } from '../model/remedies.ts'
import { endpointOf, registeredEndpoint } from './endpoints.ts'

/** Maximum size of the shown beginning of a response, in bytes. */
const SHOWN_BYTES = 2000

/** How the store changed its registered URL during a test, which explains why it did not accept the message. */
const registrationChange = async (
  context: Context,
  source: string,
  { url, secrets }: Awaited<ReturnType<typeof endpointOf>>,
  status: number | undefined,
) => {
  const registered = await registeredEndpoint(context, source)
  if (registered === undefined) return say('removed-url')
  if (registered.url !== url) return say('registered-other', { location: { foreign: registered.url } })
  return status === UNVERIFIED && registered.secret !== secrets[0] && say('registered-again')
}

/** Delivers a test message without an order, and shows the response of the store's endpoint. */
export const testFeed = async (context: Context, source: string) => {
  const { feed, ...store } = storeNamed(context, source)
  const conformance = `relay conformance ${shellWord(source)}${context.flags}`
  if (feed === 'sqs') {
    const remedy = `test its consumer with "${conformance} -- <command that starts the store>"`
    throw cannot(`test the feed of "${source}"`, 'it is an SQS queue, which refuses no message', remedy)
  }
  if (store.exact) {
    const remedy = `test a store without customers with "${conformance}"`
    throw cannot(
      `test the feed of "${source}"`,
      `the store is exact, and ${FEED_TEST} is not an event of the service`,
      remedy,
    )
  }
  const { url, secrets } = await endpointOf(context, { ...store, feed }, `test the feed of "${source}"`)
  const event = FEED_TEST
  const delivery = randomUUID()
  const data = { source, external_id: event }
  const body = spacedJson({ event, delivery, version: 0, cause: { event, delivery }, data })
  const began = performance.now()
  // Whether the relay may call a private network is a setting of the deployment, which the deployment has checked.
  const allowed = context.local ? 'loopback' : 'private'
  const http = httpClient(address => assertAllowed(address, allowed))
  let response: IncomingResponse | undefined
  let signature: string | undefined
  const deliver = httpDelivery({
    now: Date.now,
    async http(request) {
      signature = request.headers[HEADERS.signature]
      response = await http({ ...request, maxBytes: 1024 * 1024 })
      return response
    },
  })
  const error = await deliver({ url, secrets, event, delivery, body }).then(
    () => undefined,
    (thrown: FeedError) => thrown,
  )
  const milliseconds = Math.round(performance.now() - began)
  const { status, text = '' } = response ?? {}
  const changed =
    error &&
    registersItself({ feed }) &&
    (await registrationChange(context, source, { url, secrets }, status))
  const location = response && headerOf(response, 'location')
  const remedy = changed || (error && endpointRemedy(context, { source, feed }, error, { url, location }))
  const answer = visibleLines(Buffer.from(text).subarray(0, SHOWN_BYTES).toString())
  return {
    data: {
      source,
      url,
      delivery,
      accepted: error === undefined,
      failure: error?.message,
      milliseconds,
      status,
      answer,
      remedy,
      sent: status === UNVERIFIED ? { signature, body } : undefined,
    },
    ok: error === undefined,
    text: lines(
      `${error?.message ?? 'Accepted'} (${url}, ${milliseconds} ms)`,
      status !== undefined && `Response: ${status}${answer === '' ? ', without a body' : `\n\n${answer}`}`,
      remedy !== undefined && `Remedy: ${textOf(remedy)}`,
      status === UNVERIFIED &&
        `Sent with X-Service-Signature: ${signature}; with --json, "sent" also has the body`,
    ),
  }
}
