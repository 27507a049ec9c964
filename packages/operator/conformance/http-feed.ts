import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { FeedError, httpDelivery } from '@order-relay/lib/feeds/deliver.ts'
import { hostOf } from '@order-relay/lib/platform/addresses.ts'
import { headerOf, httpClient, type IncomingResponse } from '@order-relay/lib/platform/http-client.ts'
import { REGISTRATION_PATH } from '@order-relay/lib/protocol/order.ts'
import { SENDER_TIMEOUT_SECONDS } from '@order-relay/lib/protocol/webhook.ts'
import { type Patience, POLL_MS, within } from '../core/async.ts'
import { type TestMessage, UNVERIFIED } from '../model/remedies.ts'
import type { Sent } from '../model/sample-messages.ts'
import { type Fault, type Feed, IN_TRANSACTION, LOST_OR_UNLOGGED, type Remedy } from './feed.ts'

/** Sends one request; resolves with why it was not accepted, such as "it answered 409". */
export type HttpSend = (
  message: Sent,
  changes?: { secrets?: readonly string[]; now?: () => number },
) => Promise<string | undefined>

/** The consequence of a message that was not accepted. */
export const refused = ({ version, event }: Sent, failure: string) => {
  const what = event === 'order.updated' ? `version ${version}` : `"${event}" of version ${version}`
  return `did not acknowledge ${what} (${failure}): the relay would retry it until it is a dead letter, and block the order`
}

const UNREGISTERED = 'it has registered no webhook URL'

/** Number of attempts to send a message, with a pause in between. */
const ATTEMPTS = 3

const orderOf = ({ order }: Sent) => order.external_id

/** How long after its start a store may still be registering its URL, in milliseconds. */
const REGISTRATION_MS = 5000

const REGISTER = `register the URL when the store starts: PUT ${REGISTRATION_PATH}`

const UNNOTED = 'log the delivery of each handled message once, before the message is acknowledged'

/** Whether anything listens at the host and port of a URL: false if the connection is refused. */
const isListening = (url: string) =>
  new Promise<boolean>(resolve => {
    const address = new URL(url)
    const port = Number(address.port) || (address.protocol === 'https:' ? 443 : 80)
    const socket = connect({ host: hostOf(address), port })
    const end = (listens: boolean) => {
      socket.destroy()
      resolve(listens)
    }
    socket.setTimeout(SENDER_TIMEOUT_SECONDS * 1000, () => end(true))
    socket.once('connect', () => end(true))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code !== 'ECONNREFUSED'))
  })

type Refusal = Fault & { wrong: string }

/** The URL of a store and the secret that it must have. */
export type Target = { url: string; secret: string }

/**
 * @param target is called for every message; resolves with undefined while the store has registered no URL
 * @param registers whether the store registers its URL, perhaps at each start
 * @param remedyOf the remedy for a store that does not accept the first message
 */
export const httpFeed = ({
  target,
  registers = false,
  remedyOf,
  ...patience
}: {
  target: () => Promise<Target | undefined>
  registers?: boolean
  remedyOf: (error: FeedError, sent: TestMessage) => Remedy
} & Patience) => {
  const http = httpClient()
  /** Sends one request, and resolves with why it was not accepted and the remedy. */
  const deliver = async (
    message: Sent,
    { secrets, now = Date.now }: Parameters<HttpSend>[1] = {},
    isRepeated = false,
  ): Promise<{ why: string; remedy: Remedy } | undefined> => {
    patience.signal?.throwIfAborted()
    const found = await target()
    if (found === undefined) return { why: UNREGISTERED, remedy: REGISTER }
    const { url, secret } = found
    const { event, delivery, json, attributes } = message
    const signed = { url, secrets: secrets ?? [secret], event, delivery, body: json, exact: attributes }
    let response: IncomingResponse | undefined
    const deliverOnce = httpDelivery({
      now,
      async http(request) {
        response = await http(request)
        return response
      },
    })
    try {
      await deliverOnce(signed)
      return undefined
    } catch (error) {
      if (!(error instanceof FeedError)) throw error
      const current = secrets === undefined && !isRepeated ? await target() : found
      // The store has registered since the target was read: it refuses the earlier secret or left the earlier URL.
      const isOld = current?.url !== url || (error.status === UNVERIFIED && current.secret !== secret)
      if (isOld) return deliver(message, { now }, true)
      const location = response && headerOf(response, 'location')
      return { why: error.message.replace(/^Cannot .*?: /, ''), remedy: remedyOf(error, { url, location }) }
    }
  }
  const send: HttpSend = async (message, changes) => (await deliver(message, changes))?.why
  let waiting = new Map<string, Sent[]>()
  let registeringUntil = 0

  /** Sends the waiting messages, orders in parallel; an order stops at the first message that is not accepted. */
  const attemptOnce = async (onAcknowledged?: () => void): Promise<Refusal | undefined> => {
    const outcomes = [...waiting.values()].map(async messages => {
      for (let [first] = messages; first !== undefined; [first] = messages) {
        const failure = await deliver(first)
        if (failure !== undefined) return { wrong: refused(first, failure.why), firstRemedy: failure.remedy }
        onAcknowledged?.()
        messages.shift()
      }
      return undefined
    })
    return (await Promise.all(outcomes)).find(failure => failure !== undefined)
  }

  /** Sends a message, and repeats it while a store that has just started may not have its new secret yet. */
  const attempt = async (onAcknowledged?: () => void) => {
    for (;;) {
      const failure = await attemptOnce(onAcknowledged)
      if (!failure?.wrong.includes('answered 401') || performance.now() > registeringUntil) return failure
      patience.assertUseful?.()
      await sleep(POLL_MS)
    }
  }

  const feed: Feed = {
    startRemedy: UNNOTED,
    failureRemedy: 'answer 500 to a message that the store cannot handle, whatever the reason',
    killRemedy: `${IN_TRANSACTION}; answer 2xx only afterwards`,
    lost: ({ version }) => ({
      wrong: `acknowledged version ${version}, whose delivery its log does not contain: a change of the order is lost, unless the store handled it without logging it`,
    }),
    lostAtKill: ({ version }) => ({
      wrong: `acknowledged version ${version}, which its log does not have: ${LOST_OR_UNLOGGED}`,
    }),
    async publish(messages, onAcknowledged) {
      for (const [order, added] of Map.groupBy(messages, orderOf))
        waiting.set(order, [...(waiting.get(order) ?? []), ...added])
      await attempt(onAcknowledged)
    },
    async settle() {
      let failure = await attempt()
      for (let repeated = 1; failure !== undefined && repeated < ATTEMPTS; repeated++) {
        patience.assertUseful?.()
        await sleep(POLL_MS)
        failure = await attempt()
      }
      waiting = new Map()
      return failure
    },
    async takeBack(message) {
      const messages = waiting.get(orderOf(message)) ?? []
      const at = messages.indexOf(message)
      if (at >= 0) messages.splice(at, 1)
      return at >= 0 ? 'yes' : 'no'
    },
    async resume(start) {
      await start()
      if (registers) registeringUntil = performance.now() + REGISTRATION_MS
      // Only opens a connection: the store would report a message that is not signed with its secret as an error.
      await within(patience, async () => {
        const found = await target()
        return (found !== undefined && (await isListening(found.url))) || undefined
      })
      await attempt()
    },
  }
  return { feed, http: { send, secret: async () => (await target())?.secret ?? '' } }
}
