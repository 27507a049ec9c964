import { Option } from '@commander-js/extra-typings'
import type { Attempt } from '@order-relay/lib/feeds/attempts.ts'
import { visible } from '@order-relay/lib/platform/visible.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { interruptible } from '../core/async.ts'
import type { Cli } from '../core/command.ts'
import { assertFound, type Context } from '../core/context.ts'
import { periodOption, positive, SOURCE } from '../core/options.ts'
import {
  findingColor,
  findingInWords,
  findingText,
  lines,
  moreThan,
  type Report,
  shellWord,
  table,
  visibleLines,
} from '../core/output.ts'
import { jsonOf } from '../core/webhook.ts'
import { quarantinedAbout } from '../dead-letters/quarantine.ts'
import { type AttemptFilter, listAttempts, OUTCOMES, refusedIn } from '../model/attempts.ts'
import { timelineOf } from '../model/orders.ts'
import { messageContent } from './content.ts'
import { type FeedMessageView, messagesOf, STORE_REMOVED } from './messages.ts'
import { OUTCOME_SECONDS, outcomeOf, RETRY_RATE, retriedText, retryOrder, retryStore } from './retry.ts'

type Ended = Pick<Attempt, 'status' | 'code' | 'error' | 'ms'> & { next_at?: string | Date | undefined }

/** Maximum width of a response in a table, in characters. */
const WIDEST = 40

const answerOf = ({ status, code, error }: Ended) => {
  const known = status ?? code
  if (known !== undefined || error === undefined) return known
  const characters = [...error]
  return characters.length > WIDEST ? `${characters.slice(0, WIDEST - 1).join('')}…` : error
}

/** Full errors, for which a table shows only the code or the beginning. */
const errorsIn = (attempts: readonly Ended[]): string[] => {
  const named = attempts.map(each => [answerOf(each), each.error] as const)
  const errors = named.filter(([answer, error]) => typeof answer === 'string' && error && answer !== error)
  return [...new Map(errors)].map(([answer, error]) => `${answer}: ${error}`)
}

const ATTEMPT = ['ATTEMPT', 'OUTCOME', 'ANSWER', 'TIME', 'NEXT PLANNED']

const attemptCells = ({
  receives,
  outcome,
  ...ended
}: Ended & { receives?: number | undefined; outcome: string }) => [
  receives,
  outcome,
  answerOf(ended),
  ended.ms === undefined ? undefined : `${ended.ms} ms`,
  ended.next_at,
]

const list = async (context: Context, filter: AttemptFilter & { limit: number }): Promise<Report> => {
  const { attempts, more, findings } = await listAttempts(context, filter)
  assertFound(context, filter.source, attempts.length)
  const rows = attempts.map(attempt => {
    const { at, source, external_id, event, delivery } = attempt
    return [at, source, external_id, event, delivery, ...attemptCells(attempt)]
  })
  return {
    data: { attempts, more, findings: findings.map(findingInWords) },
    colorOf: findingColor,
    text:
      rows.length === 0
        ? `No matching attempts in the log of ${context.title}.`
        : lines(
            table(['AT', 'SOURCE', 'ORDER', 'EVENT', 'MESSAGE', ...ATTEMPT], rows),
            errorsIn(attempts).map(visible),
            more && moreThan(filter.limit),
            findings.map(findingText),
          ),
  }
}

const STATES: Readonly<Record<FeedMessageView['state'], string>> = {
  sent: 'sent to its queue',
  accepted: 'accepted',
  failing: 'fails',
  unsent: 'not sent',
  dead: 'dead letter',
  'failing or dead': 'fails, or is a dead letter',
  stopped: 'no longer delivered',
  deleted: 'deleted by an operator, not received',
  queued: 'queued',
  'not failed': 'queued or accepted: successes are not recorded',
  unrecorded: 'no longer queued, not recorded',
}

/** The states of messages that the store has not accepted after an attempt. */
const REFUSED: ReadonlySet<FeedMessageView['state']> = new Set([
  'failing',
  'failing or dead',
  'stopped',
  'dead',
])

const stateText = (message: FeedMessageView) =>
  [
    STATES[message.state],
    ...(message.state === 'queued' && message.behind ? [`behind ${message.behind}`] : []),
    ...(message.state === 'dead' ? [`since ${message.since}`] : []),
  ].join(' ')

/** The content of a message. */
const showMessage = async (context: Context, order: OrderKey, delivery: string): Promise<Report> => {
  const content = await messageContent(context, order, delivery)
  const { body, is_original, ...named } = content
  const [label, names] =
    'headers' in named ? ['headers', named.headers] : ['message attributes', named.attributes]
  return {
    data: { ...order, delivery, ...content },
    text: lines(
      is_original
        ? 'As it was sent:'
        : 'As it would be sent now: the order has changed since, or its history does not show which requests the message reported.',
      ['', visibleLines(JSON.stringify(jsonOf(body), null, 2)), ''],
      `Names of the ${label}: ${names.length === 0 ? 'none' : names.join(', ')}`,
    ),
  }
}

const notRetriedText = ({ flags }: Context, dead: readonly string[]): string => {
  if (dead.length === 0) return 'No message of the order is waiting for its next attempt.'
  const found =
    dead.length === 1
      ? 'A message of the order is a dead letter'
      : `${dead.length} messages of the order are dead letters`
  return `${found}. To send ${dead.length === 1 ? 'it' : 'them'} again, run relay dead replay ${dead.map(shellWord).join(' ')}${flags}`
}

const show = async (
  context: Context,
  source: string,
  external_id: string,
  { message: shown }: { message?: string | undefined },
): Promise<Report> => {
  const order = { source, external_id }
  if (shown !== undefined) return showMessage(context, order, shown)
  const { entries } = await timelineOf(context, order)
  const { feed, messages, complete } = await messagesOf(context, order, entries)
  const quarantined = await quarantinedAbout(context, order)
  const rows = messages.map(message => [
    message.published_at,
    message.version,
    message.event,
    message.delivery,
    stateText(message),
  ])
  const attempts = messages.flatMap(({ attempts }) => attempts)
  const dead = messages.flatMap(({ state, delivery }) => (state === 'dead' ? [delivery] : []))
  const refused = messages.filter(({ state }) => REFUSED.has(state)).flatMap(({ attempts }) => attempts)
  const findings = refusedIn(
    context,
    refused.map(attempt => ({ ...attempt, source })),
  )
  return {
    data: {
      ...order,
      feed,
      messages,
      complete,
      quarantined: quarantined.ids,
      findings: findings.map(findingInWords),
    },
    colorOf: findingColor,
    text: lines(
      feed === 'removed' && STORE_REMOVED,
      quarantined.texts,
      rows.length === 0
        ? 'No message was published.'
        : table(['PUBLISHED', 'VERSION', 'EVENT', 'MESSAGE', 'STATE'], rows),
      attempts.length > 0 && [
        '',
        table(
          ['AT', 'MESSAGE', ...ATTEMPT],
          attempts.map(attempt => [attempt.at, attempt.delivery, ...attemptCells(attempt)]),
        ),
        ...errorsIn(attempts).map(visible),
      ],
      !complete && 'Earlier attempts are not shown.',
      dead.length > 0 && notRetriedText(context, dead),
      findings.map(findingText),
    ),
  }
}

const retry = async (
  context: Context,
  source: string,
  external_id: string | undefined,
  { rate }: { rate: number },
): Promise<Report> => {
  if (external_id === undefined) {
    const done = await interruptible(signal => retryStore(context, source, rate, signal))
    return { data: { source, ...done }, ok: done.failed + done.unsent === 0, text: retriedText(done) }
  }
  const order = { source, external_id }
  const done = await retryOrder(context, order)
  if ('dead' in done)
    return { data: { ...order, ...done }, ok: false, text: notRetriedText(context, done.dead) }
  const attempt = await outcomeOf(context, order, done)
  return {
    data: { ...order, delivery: done.delivery, outcome: attempt?.outcome },
    ok: attempt === undefined || attempt.outcome === 'accepted',
    text: `Retried: ${done.delivery}. ${endText(attempt)}`,
  }
}

const endText = (attempt: Attempt | undefined): string => {
  if (attempt === undefined) return `The attempt has not ended within ${OUTCOME_SECONDS} seconds.`
  const { outcome, error, next_at } = attempt
  if (outcome === 'accepted') return 'The store accepted it.'
  const next = next_at === undefined ? '' : ` The next attempt is planned for ${next_at}.`
  return visible(`It ${outcome === 'unsent' ? 'was not sent' : 'failed again'}: ${error}.${next}`)
}

const LIST = `
An attempt is accepted (2xx), failed, unsent (the feed is disabled, or has no URL or secret), or dead: after thirteen
days, the message became a dead letter. A store with an SQS feed receives its messages itself.`

const SHOW = `
With --message, the message is rebuilt from the order and, for a relayed webhook, from its delivery. If the order has
changed since, the output says that the message that was sent may have been different.`

const RETRY = `
Later messages of the same order follow. If the retry fails, the next automatic attempt stays as planned. A disabled feed is
still called at most every fifteen minutes. Without an order number, retries all orders of the store whose last attempt in
the last twelve hours of the log failed. Waits up to ${OUTCOME_SECONDS} seconds for the outcomes; the exit code
is 1 if a retry failed.`

/** `relay feeds`: the messages that stores with HTTP feeds received. */
export const feedsCommands = ({ program, run }: Cli): void => {
  const feeds = program
    .command('feeds')
    .description('Show the messages that stores received, and retry messages.')
  feeds
    .command('list')
    .description('List attempts to deliver messages from the log, newest first.')
    .addOption(periodOption('1h'))
    .addOption(new Option('--outcome <outcome>', 'only this outcome').choices(OUTCOMES))
    .addOption(SOURCE)
    .option('--find <text>', 'only orders or messages whose number or id begins with this text')
    .option('--limit <number>', 'maximum number of attempts to list', positive, 100)
    .addHelpText('after', LIST)
    .action(run(list))
  feeds
    .command('show')
    .description('Show the messages of an order to its store, with their states and attempts.')
    .argument('<source>', 'source of the store')
    .argument('<external_id>', "the order's number in the store")
    .option('--message <id>', 'show the body of this message and the names of its headers instead')
    .addHelpText('after', SHOW)
    .action(run(show))
  feeds
    .command('retry')
    .description('Immediately retry the failing message of an order, or all failing messages of a store.')
    .argument('<source>', 'source of the store')
    .argument('[external_id]', "the order's number in the store")
    .option('--rate <number>', 'orders per second', positive, RETRY_RATE)
    .addHelpText('after', RETRY)
    .action(run(retry))
}
