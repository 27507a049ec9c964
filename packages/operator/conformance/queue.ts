import { sendInOrder } from '@order-relay/lib/platform/fifo.ts'
import { feedQueueName } from '@order-relay/lib/platform/names.ts'
import type { Store } from '@order-relay/lib/platform/stores.ts'
import { type Patience, within } from '../core/async.ts'
import type { Context } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import { count } from '../core/output.ts'
import { browse, depthOf, type QueueMessage } from '../core/queue.ts'
import { messageMaker } from '../model/sample-messages.ts'
import { PREFIX } from './play.ts'
import { INVISIBLE, sqsFeed } from './sqs-feed.ts'

/** How long to watch whether another program uses an empty queue, in seconds. */
const WATCH_SECONDS = 2
/** The same for a queue with messages, which a run whose store is still starting may have published. */
const WATCH_FILLED_SECONDS = 10

/** How long a run waits at its end for invisible messages, in seconds. */
const CLEAN_SECONDS = 5

/**
 * Prepares the queue of a store for a test.
 *
 * @param run begins the id of every test order of this run
 * @param isStarted whether the test starts the store; otherwise the store already reads the queue
 * @throws Failure if messages stay in the queue, or if a program other than the store uses it
 */
export const feedInQueue = async (
  context: Context,
  store: Pick<Store, 'source' | 'exact' | 'queue'>,
  { run, isStarted, ...patience }: Patience & { run: string; isStarted: boolean },
) => {
  const { sqs } = context
  const { source, queue } = store
  const name = feedQueueName(source, queue)
  const queueUrl = await context.queueUrl(name)
  const refusal = (found: string, remedy: string) => cannot(`test the store "${source}"`, found, remedy)
  const depth = async () => (await depthOf(context, name)).all

  /** All messages of the queue; removes `own`. */
  const read = async (own?: string) => {
    const messages: QueueMessage[] = []
    const visit = async (message: QueueMessage) => {
      messages.push(message)
      return message.body === own ? 'delete' : 'keep'
    }
    await browse(context, name, Number.POSITIVE_INFINITY, visit)
    return messages
  }

  const assertNotReal = (messages: readonly QueueMessage[]) => {
    if (messages.every(({ body }) => body.includes(`"external_id":"${PREFIX}`))) return
    const found = `${count(messages.length, 'message')} of real orders may wait in ${name}`
    throw refusal(found, 'let the store consume them first')
  }

  /**
   * Sends a message while the store is down, and watches whether a program receives it or sends others.
   */
  const watch = async (seconds: number, begin: number) => {
    const { order, json, delivery, attributes = {} } = messageMaker(store, run)('probe', 1)
    const elapsed = performance.now() - begin
    await sendInOrder(sqs, queueUrl, order, { id: delivery, json, attributes })
    await within({ ...patience, wait: seconds }, async () => undefined).catch(async reason => {
      await read(json)
      throw reason
    })
    const messages = await read(json)
    const probe = messages.find(({ body }) => body === json)
    const others = messages.filter(({ body }) => !body.includes(`"external_id":"${run}`))
    assertNotReal(others)
    if (probe === undefined) return 'received'
    if (others.some(({ sent }) => sent.getTime() >= probe.sent.getTime() - elapsed)) return 'others'
    return probe.receives === 1 ? 'unused' : 'received'
  }

  const assertUnused = async (seconds: number) => {
    const begin = performance.now()
    let found = await watch(seconds, begin)
    // The open request of a consumer that was killed receives one more message.
    if (found === 'received') found = await watch(seconds, begin)
    if (found === 'unused') return
    const remedy = 'stop it: it may be a consumer of this store, or another run of this command'
    throw refusal(`another program uses its queue, ${name}`, remedy)
  }

  /** Removes the test messages whose order begins with a prefix, and returns how many messages are left. */
  const remove = async (prefix: string, waiting: Patience) => {
    const visit = async ({ body }: QueueMessage) =>
      body.includes(`"external_id":"${prefix}`) ? 'delete' : 'keep'
    // A message that a killed store had received is invisible until its visibility timeout ends.
    await within(waiting, async () => {
      if ((await depth()) === 0) return true
      await browse(context, name, Number.POSITIVE_INFINITY, visit)
      return undefined
    })
    return depth()
  }

  const before = await depth()
  if (before > 0) assertNotReal(await read())
  if (isStarted) {
    await assertUnused(before === 0 ? WATCH_SECONDS : Math.min(patience.wait, WATCH_FILLED_SECONDS))
    const left = await remove(PREFIX, patience)
    if (left > 0) {
      assertNotReal(await read())
      const found = `${count(left, 'message')} in ${name} stayed invisible for ${patience.wait} s (--wait)`
      throw refusal(found, INVISIBLE)
    }
  } else if (before > 0) {
    // They may belong to a run that is still active, which must not lose them.
    const isEmpty = await within(patience, async () => (await depth()) === 0 || undefined)
    if (!isEmpty) {
      const found = `${count(await depth(), 'message')} of another test stayed in ${name} for ${patience.wait} s (--wait)`
      throw refusal(found, 'start the store, or wait until the other test has ended')
    }
  }
  return {
    ...sqsFeed({ sqs, queueUrl, ...patience }),
    /** Removes the messages of this run from the queue; the store must be down. */
    clean: async () => {
      const left = isStarted ? await remove(run, { wait: CLEAN_SECONDS }) : 0
      return left === 0 ? undefined : `${count(left, 'message')} stayed in ${name}`
    },
  }
}
