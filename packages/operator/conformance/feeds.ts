import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SQS } from '@aws-sdk/client-sqs'
import { FEED_TEST, httpDelivery } from '@order-relay/lib/feeds/deliver.ts'
import { exactText, queuedForm } from '@order-relay/lib/orders/feed.ts'
import { sendInOrder } from '@order-relay/lib/platform/fifo.ts'
import { httpClient } from '@order-relay/lib/platform/http-client.ts'
import type { Store } from '@order-relay/lib/platform/stores.ts'
import { type OrderKey, REGISTRATION_PATH } from '@order-relay/lib/protocol/order.ts'
import { orderUpdated } from 'order-relay-store/testing'
import { type Patience, POLL_MS, within } from '../core/async.ts'
import { cannot, messageOf } from '../core/errors.ts'
import { count } from '../core/output.ts'
import { depthOf } from '../core/queue.ts'
import { ROOT } from '../core/stack.ts'
import type { Finding } from '../doctor/texts.ts'

/** A message as the checks publish it. */
export type Sent = { order: OrderKey; version: number; event: string; delivery: string } & ReturnType<
  typeof queuedForm
>

/** Creates messages of a store about orders whose ids begin with a prefix. */
export const messageMaker =
  ({ source, exact = false }: Pick<Store, 'source' | 'exact'>, prefix: string) =>
  (order: string, version: number, event = 'order.updated'): Sent => {
    const message = { ...orderUpdated({ source, external_id: `${prefix}-${order}` }, version), event }
    const { delivery, data } = message
    const form = queuedForm({ ...message, ...(exact && { exact: exactText(message) }) })
    return { order: data, version, event, delivery, ...form }
  }

type Remedy = NonNullable<Finding['remedy']>

/** What a store did wrong, and how to fix it if the check does not say. */
export type Fault = { wrong: string | false | undefined; remedy?: Remedy }

/** Delivers the messages of the checks to a store, as the relay does. */
export type Feed = {
  /** The remedy for a store that does not handle the first message, by what the store did wrong. */
  startRemedy: (wrong: Fault['wrong']) => Remedy
  /** What the store did wrong if it did not handle a message that is neither waiting nor refused. */
  lost: (message: Sent) => Fault
  /** The same for a store that was killed, which may have handled the message without logging it. */
  lostAtKill: Feed['lost']
  /**
   * Publishes messages; does not wait for a store that is down.
   *
   * @param onAcknowledged called at each acknowledgement, which a queue does not show
   */
  publish: (messages: readonly Sent[], onAcknowledged?: () => void) => Promise<void>
  /** Resolves once all published messages are acknowledged, otherwise with the reason. */
  settle: () => Promise<Fault | undefined>
  /** Removes a message that the store could not handle and left in the queue, ahead of the next one, if it did. */
  takeBack: (message: Sent, behind: Sent) => Promise<'yes' | 'no' | Fault>
  /** Starts the store, if the command may; resolves once it is reachable and waiting messages are being sent. */
  resume: (start: () => Promise<unknown>) => Promise<void>
}

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

const LOST_OR_UNLOGGED =
  'either the change is lost, or the store was killed after it had applied the change and before it logged it'

/** Number of attempts to send a message, with a pause in between. */
const ATTEMPTS = 3

const orderOf = ({ order }: Sent) => order.external_id

/** How long after its start a store may still be registering its URL, in milliseconds. */
const REGISTRATION_MS = 5000

const STARTS: readonly (readonly [RegExp, string])[] = [
  [/no webhook URL/, `register the URL when the store starts: PUT ${REGISTRATION_PATH}`],
  [/no complete response/, 'answer within ten seconds, after the transaction that handles the message'],
  [/answered/, 'find the error in its output; it must handle the message and answer 2xx'],
  [/did not acknowledge/, 'start the store at the URL of its feed'],
]

const UNNOTED = 'log the delivery of each handled message once, before the message is acknowledged'

/** The URL of a store and the secret that it must have. */
export type Target = { url: string; secret: string }

/**
 * @param target is called for every message; resolves with undefined while the store has registered no URL
 * @param registers whether the store registers its URL, perhaps at each start
 * @param unverified the remedy for a store that refuses the signature of the first message
 */
export const httpFeed = ({
  target,
  registers = false,
  unverified,
  ...patience
}: { target: () => Promise<Target | undefined>; registers?: boolean; unverified: Remedy } & Patience) => {
  const http = httpClient()
  const send: HttpSend = async (message, { secrets, now = Date.now } = {}) => {
    patience.signal?.throwIfAborted()
    const found = await target()
    if (found === undefined) return UNREGISTERED
    const { url, secret } = found
    const { event, delivery, json, attributes } = message
    const signed = { url, secrets: secrets ?? [secret], event, delivery, body: json, exact: attributes }
    return httpDelivery({ http, now })(signed).then(
      () => undefined,
      error => messageOf(error).replace(/^Cannot .*?: /, ''),
    )
  }
  let waiting = new Map<string, Sent[]>()
  let registeringUntil = 0

  /** Sends the waiting messages, orders in parallel; an order stops at the first message that is not accepted. */
  const attemptOnce = async (onAcknowledged?: () => void): Promise<string | undefined> => {
    const outcomes = [...waiting.values()].map(async messages => {
      for (let [first] = messages; first !== undefined; [first] = messages) {
        const failure = await send(first)
        if (failure !== undefined) return refused(first, failure)
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
      if (!failure?.includes('answered 401') || performance.now() > registeringUntil) return failure
      patience.assertUseful?.()
      await sleep(POLL_MS)
    }
  }

  const feed: Feed = {
    startRemedy: (wrong = '') =>
      [[/answered 401/, unverified] as const, ...STARTS].find(([pattern]) =>
        pattern.test(String(wrong)),
      )?.[1] ?? UNNOTED,
    lost: ({ version }) => ({
      wrong: `acknowledged version ${version} and did not handle it: a change of the order is lost`,
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
      return failure === undefined ? undefined : { wrong: failure }
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
      const probe = messageMaker({ source: '' }, FEED_TEST)('probe', 0, FEED_TEST)
      // Any response will do: a message signed with another secret is not handled.
      await within(patience, async () => {
        const failure = await send(probe, { secrets: [randomUUID()] })
        return failure === UNREGISTERED || failure?.includes('ECONNREFUSED') ? undefined : true
      })
      await attempt()
    },
  }
  return { feed, http: { send, secret: async () => (await target())?.secret ?? '' } }
}

/** Messages that a killed store has received return only after its visibility timeout. */
export const INVISIBLE = 'pass a --wait that is longer than the visibility timeout of the store'

const SLOW =
  'find the error in its output; if there is none, the store is slower than --wait or does not delete what it has handled, or another program reads the queue'

const LOST =
  'log each handled delivery, delete its message only afterwards, and stop any other program that reads the queue'

export const sqsFeed = ({ sqs, queueUrl, ...patience }: { sqs: SQS; queueUrl: string } & Patience) => {
  const { wait } = patience
  const depth = () => depthOf({ sqs, queueUrl: async () => queueUrl }, queueUrl)
  const feed: Feed = {
    startRemedy: () =>
      'start the store with the queue of its feed; the store must log each delivery that it handles once',
    lost: ({ version }) => ({
      wrong: `did not handle version ${version}, which left the queue: the store deleted it, or another program reads the queue`,
      remedy: LOST,
    }),
    lostAtKill: ({ version }) => ({
      wrong: `did not log version ${version}, which left the queue: ${LOST_OR_UNLOGGED}`,
    }),
    async publish(messages) {
      // With its own deduplication id: SQS drops repetitions within five minutes.
      for (const { order, json, attributes = {} } of messages)
        await sendInOrder(sqs, queueUrl, order, { id: randomUUID(), json, attributes })
    },
    async settle() {
      const seen = { inFlight: false }
      const emptied = await within(patience, async () => {
        const { all, inFlight } = await depth()
        seen.inFlight ||= inFlight > 0
        return all === 0 || undefined
      })
      if (emptied) return undefined
      const left = count((await depth()).all, 'message')
      return {
        wrong: `left ${left} in the queue for ${wait} s (--wait): undeleted messages return and block their order`,
        ...(seen.inFlight && { remedy: SLOW }),
      }
    },
    async takeBack({ json }, behind) {
      const isTaken = await within(patience, async () => {
        const { Messages: [message] = [] } = await sqs.receiveMessage({
          QueueUrl: queueUrl,
          WaitTimeSeconds: 1,
        })
        const ReceiptHandle = message?.ReceiptHandle
        if (ReceiptHandle === undefined) return (await depth()).all === 0 ? 'no' : undefined
        const isIt = message?.Body === json
        if (isIt) await sqs.deleteMessage({ QueueUrl: queueUrl, ReceiptHandle })
        else await sqs.changeMessageVisibility({ QueueUrl: queueUrl, ReceiptHandle, VisibilityTimeout: 0 })
        // SQS returns the messages of a group in sequence.
        if (isIt) return 'yes'
        return message?.Body === behind.json ? 'no' : undefined
      })
      const wrong = `left the message invisible for more than ${wait} s (--wait): whether it would be redelivered is unknown`
      return isTaken ?? { wrong, remedy: INVISIBLE }
    },
    resume: async start => void (await start()),
  }
  return { feed }
}

/** The store has exited without being killed. */
export class StoreExited extends Error {
  override readonly name = 'StoreExited'
}

const MODULES = join(ROOT, 'node_modules')

/** Without the programs of this project, such as its Node, which npm and `packages/run.js` put first. */
const ownPath = (path: string) =>
  path
    .split(delimiter)
    .filter(folder => !folder.startsWith(MODULES))
    .join(delimiter)

/** A store that a command starts and that the checks kill and restart. */
export const storeProcess = (
  [program = '', ...args]: readonly string[],
  { PATH = '', ...environment }: Readonly<Record<string, string | undefined>>,
) => {
  const printed: string[] = []
  let child: ChildProcess | undefined
  /** The unexpected exits, and their number at the last start. */
  const exits: string[] = []
  let former = 0
  let isKilled = false
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null
  let killing: Promise<void> | undefined
  const killNow = async () => {
    if (child?.pid === undefined || !isRunning()) return
    isKilled = true
    const ended = once(child, 'close')
    // Kills its child processes as well: it leads a process group.
    process.kill(-child.pid, 'SIGKILL')
    await ended
  }
  const kill = async () => {
    killing ??= killNow().finally(() => {
      killing = undefined
    })
    await killing
  }
  return {
    isRunning,
    kill,
    /** How often it has exited without being killed. */
    ends: () => exits.length,
    /** @throws StoreExited if it has exited without being killed since it was started */
    assertAlive: () => {
      const [exit] = exits.slice(former)
      if (exit !== undefined) throw new StoreExited(exit)
    },
    /** Its complete output. */
    output: async () => printed.join(''),
    async start() {
      const started = spawn(program, args, {
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
        // The warning about old versions of Node would fill the last output of the store.
        env: {
          AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
          ...environment,
          PATH: ownPath(PATH),
        },
      })
      former = exits.length
      isKilled = false
      child = started.on('exit', (code, signal) => {
        if (!isKilled) exits.push(signal === null ? `with code ${code}` : `by ${signal}`)
      })
      for (const stream of [started.stdout, started.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => printed.push(text))
      await once(started, 'spawn').catch(error => {
        throw cannot('start the store', messageOf(error), 'check the command after "--"')
      })
    },
  }
}

export type StoreProcess = ReturnType<typeof storeProcess>
