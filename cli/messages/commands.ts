import { Option } from '@commander-js/extra-typings'
import { visible } from '../../lib/platform/visible.ts'
import { accountingOf, orderReader } from '../core/accounting.ts'
import type { Cli } from '../core/command.ts'
import type { Context } from '../core/context.ts'
import { cannot, messageOf, usageError } from '../core/errors.ts'
import { ORDER, positive, SOURCE, since } from '../core/options.ts'
import { count, facts, lines, type Report, table, visibleLines } from '../core/output.ts'
import { pace } from '../core/pace.ts'
import { jsonOf } from '../core/webhook.ts'
import { ordersOf } from '../orders/orders.ts'
import { callCounts, callCountsText, dryRun, type Prediction, predictionText } from './dry-run.ts'
import {
  collect,
  idsOf,
  type Kind,
  type Message,
  type Plan,
  type Selection,
  visitSelected,
} from './message.ts'

const summary = ({ raw, from, source, external_id, event, delivery, at, details }: Message) => ({
  ...{ id: raw.id, from, source, external_id, event, delivery, at, ...details },
})

const notFound = (action: string, id: string | undefined, { where, command }: Kind, { flags }: Context) =>
  cannot(`${action} the message`, `no message "${id}" is ${where}`, `see relay ${command} list${flags}`)

/** Those of the given ids that no message has. @throws Failure when there is no message at all */
const missingOf = (
  action: string,
  messages: readonly Message[],
  { ids }: Selection,
  ...given: [Kind, Context]
): readonly string[] => {
  const found = new Set(messages.flatMap(idsOf))
  const missing = ids.filter(id => !found.has(id))
  if (missing.length > 0 && messages.length === 0) throw notFound(action, missing[0], ...given)
  return missing
}

const missingText = (missing: readonly string[]) => missing.length > 0 && `Not found: ${missing.join(', ')}.`

const hiddenText = (hidden: number) =>
  hidden > 0 &&
  `${count(hidden, 'more message')} not shown: beyond --limit, or behind another message of the same order.`

const list = async (context: Context, kind: Kind, selection: Selection): Promise<Report> => {
  const { messages, total, hidden } = await collect(context, kind, selection)
  const columns = Object.entries(kind.columns)
  const headings = columns.map(([heading]) => heading)
  const rows = messages.map(message => columns.map(([, cell]) => cell(message)))
  return {
    data: { [kind.key]: messages.map(summary), total },
    text:
      total === 0 ? `${kind.none} in ${context.title}.` : lines(table(headings, rows), hiddenText(hidden)),
  }
}

const show = async (context: Context, kind: Kind, selection: Selection): Promise<Report> => {
  const { messages } = await collect(context, kind, selection)
  const [message] = messages
  if (message === undefined) throw notFound('show', selection.ids[0], kind, context)
  const { at, ...rest } = summary(message)
  const json = jsonOf(message.body)
  const body = json === undefined ? message.body.toString('utf8') : JSON.stringify(json, null, 2)
  return {
    data: { ...rest, at, ...message.content },
    text: `${facts({ ...rest, since: at.toISOString() })}\n${visibleLines(body)}`,
  }
}

const OUTCOMES: Readonly<Record<Plan['outcome'], string>> = {
  replayed: 'replayed',
  duplicate: 'deleted: the same delivery was received again in the meantime',
  unreadable: 'kept: still unreadable',
  foreign: 'kept: belongs to no store in stores.yml',
  behind: 'kept: an earlier message of the same order must be replayed first',
  failed: 'kept: it failed again, and relay tail --errors shows why',
}

const isKept = ({ outcome }: Plan) => outcome !== 'replayed' && outcome !== 'duplicate'

/** Plans the replay of each selected message. A message never overtakes one of its group that is kept. */
const planEach = (
  context: Context,
  kind: Kind,
  selection: Selection,
  carryOut: (message: Message, plan: Plan) => Promise<'delete' | 'keep' | 'failed'>,
) => {
  const planOf = kind.planner(context)
  const blocked = new Set<string>()
  const groupOf = ({ queue, raw }: Message) => `${queue} ${raw.group ?? raw.id}`
  return visitSelected(
    context,
    kind,
    selection,
    async message => {
      const group = groupOf(message)
      const plan: Plan = blocked.has(group) ? { outcome: 'behind' } : await planOf(message)
      const done = await carryOut(message, plan)
      if (isKept(plan) || done === 'failed') blocked.add(group)
      return done === 'delete' ? 'delete' : 'keep'
    },
    message => blocked.add(groupOf(message)),
  )
}

const predict = async (context: Context, kind: Kind, selection: Selection): Promise<Report> => {
  let reader: Promise<ReturnType<typeof orderReader>> | undefined
  const predictEvent = dryRun({
    orders: await ordersOf(context),
    readService: async order => {
      reader ??= accountingOf(context).then(orderReader)
      return (await reader)(order)
    },
  })
  const predicted: { message: Message; prediction: Prediction; text: string[] }[] = []
  const { hidden } = await planEach(context, kind, selection, async (message, plan) => {
    if (plan.outcome === 'replayed' && plan.event !== undefined) {
      const prediction = await predictEvent(plan.event)
      predicted.push({ message, prediction, text: predictionText(prediction) })
    } else {
      const note = plan.outcome === 'replayed' ? plan.note : OUTCOMES[plan.outcome]
      predicted.push({ message, prediction: { calls: [], publishes: [] }, text: [`  ${note}`] })
    }
    return 'keep'
  })
  const calls = callCounts(predicted.flatMap(({ prediction }) => prediction.calls))
  return {
    data: {
      dry_run: true,
      [kind.key]: predicted.map(({ message, prediction }) => ({ ...summary(message), ...prediction })),
      ...{ calls, hidden },
    },
    text: lines(
      predicted.flatMap(({ message: { raw, source = '-', external_id = '-', event = '-' }, text }) => [
        visible(`${raw.id}  ${source} ${external_id}  ${event}`),
        ...text,
      ]),
      callCountsText(calls),
      hiddenText(hidden),
    ),
  }
}

/** Sends each selected message and only then deletes it: a crash in between sends it twice, which is safe. */
const replay = async (context: Context, kind: Kind, selection: Selection, rate: number): Promise<Report> => {
  const done: { message: Message; outcome: Plan['outcome'] }[] = []
  const idsWith = (wanted: Plan['outcome']) =>
    done.flatMap(({ message, outcome }) => (outcome === wanted ? [message.raw.id] : []))
  const inTime = pace(rate)
  let left = 0
  try {
    const counts = await planEach(context, kind, selection, async (message, plan) => {
      if (plan.outcome === 'replayed') await inTime()
      const failed = plan.outcome === 'replayed' && !(await plan.send())
      done.push({ message, outcome: failed ? 'failed' : plan.outcome })
      if (failed) return 'failed'
      return isKept(plan) ? 'keep' : 'delete'
    })
    // Messages named by their ids leave others on purpose.
    left = selection.ids.length === 0 ? counts.hidden : 0
  } catch (error) {
    const replayed = idsWith('replayed').length
    if (replayed === 0) throw error
    const found = `${count(replayed, 'message')} replayed, then: ${messageOf(error)}`
    throw cannot('replay all messages', found, 'run the command again for the others', error)
  }

  const messages = done.map(({ message }) => message)
  const missing = missingOf('replay', messages, selection, kind, context)
  const others = done.filter(({ outcome }) => outcome !== 'replayed')
  return {
    data: {
      [kind.key]: done.map(({ message, outcome }) => ({ ...summary(message), outcome })),
      replayed: idsWith('replayed'),
      behind: idsWith('behind'),
      missing,
      hidden: left,
    },
    ok: missing.length === 0 && left === 0 && others.every(({ outcome }) => outcome === 'duplicate'),
    text: lines(
      `Replayed ${count(idsWith('replayed').length, 'message')}.`,
      others.map(({ message, outcome }) => `${message.raw.id}  ${OUTCOMES[outcome]}`),
      missingText(missing),
      hiddenText(left),
    ),
  }
}

const discard = async (context: Context, kind: Kind, selection: Selection): Promise<Report> => {
  const gone: Message[] = []
  await visitSelected(context, kind, selection, async message => {
    gone.push(message)
    return 'delete'
  })
  const missing = missingOf('discard', gone, selection, kind, context)
  return {
    data: {
      discarded: gone.map(message => ({ ...summary(message), ...message.content })),
      missing,
    },
    ok: missing.length === 0,
    text: lines(`Discarded ${count(gone.length, 'message')}.`, missingText(missing)),
  }
}

/**
 * Requires an explicit selection, so that nothing acts on every message by accident.
 *
 * @throws Failure when there is none
 */
const requireSelection = (action: string, { ids, limit: _, ...filters }: Selection, all: boolean): void => {
  if (ids.length > 0 && all) throw usageError(action, 'both ids and --all are given', 'omit one of them')
  const isFiltered = Object.values(filters).some(value => value !== undefined)
  if (ids.length === 0 && !isFiltered && !all) {
    throw usageError(action, 'no message is selected', 'pass ids, a filter such as --source, or --all')
  }
}

const EVENT = new Option('--event <event>', 'only this event, such as order.payment')
const SINCE = new Option('--since <when>', 'only messages since: 2h, 7d, or a date').argParser(since)
const limitOption = () =>
  new Option('--limit <number>', 'maximum number of messages to read').argParser(positive)
const LIMIT = limitOption().default(1000)

/** The service has its daily work beside a replay. */
const REPLAY_RATE = 20

/** Adds `list`, `show`, `replay` and `discard` to the command of a kind of message. */
export const messageCommands = (
  { program, run }: Cli,
  kind: Kind,
  help: { command: string; list: string; show: string; replay: string },
): void => {
  const ID = 'message id, or id of the delivery or request in it'
  const command = program.command(kind.command).description(help.command)
  command
    .command('list')
    .description(help.list)
    .addOption(SOURCE)
    .addOption(ORDER)
    .addOption(EVENT)
    .addOption(SINCE)
    .addOption(LIMIT)
    .action(run((context, options) => list(context, kind, { ids: [], ...options })))
  command
    .command('show')
    .description(help.show)
    .argument('<id>', ID)
    .addOption(LIMIT)
    .action(run((context, id, { limit }) => show(context, kind, { ids: [id], limit })))
  command
    .command('replay')
    .description(help.replay)
    .argument('[ids...]', ID)
    .addOption(SOURCE)
    .addOption(ORDER)
    .addOption(EVENT)
    .addOption(SINCE)
    .option('--all', 'every message')
    .option('--dry-run', 'send nothing; show the create, payment and refund calls a replay leads to')
    .option('--rate <number>', 'messages to replay per second', positive, REPLAY_RATE)
    .addOption(limitOption().default(Number.POSITIVE_INFINITY, 'all'))
    .action(
      run(async (context, ids, { all, dryRun: isDryRun, rate, ...options }) => {
        const selection = { ids, ...options }
        requireSelection('replay', selection, all === true)
        return isDryRun ? predict(context, kind, selection) : replay(context, kind, selection, rate)
      }),
    )
  command
    .command('discard')
    .description('Delete messages permanently. With --json, their content is printed once more.')
    .argument('<ids...>', ID)
    .addOption(LIMIT)
    .action(run((context, ids, { limit }) => discard(context, kind, { ids, limit })))
}
