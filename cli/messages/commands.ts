import { visible } from '../../lib/platform/visible.ts'
import { accountingOf, orderReader } from '../core/accounting.ts'
import type { Cli } from '../core/command.ts'
import type { Context } from '../core/context.ts'
import { cannot, messageOf } from '../core/errors.ts'
import { positive } from '../core/options.ts'
import { count, facts, type Report, table, visibleLines } from '../core/output.ts'
import { pace } from '../core/pace.ts'
import { jsonOf } from '../core/webhook.ts'
import { ordersOf } from '../orders.ts'
import { callCounts, callCountsText, dryRun, type Prediction, predictionText } from './dry-run.ts'
import type { Kind, Message, Plan } from './kind.ts'
import { idsOf, requireSelection, type Selection, selectionOptions, visitSelected } from './selection.ts'

const summary = ({ details }: Kind, message: Message) => {
  const { raw, from, source, external_id, event, delivery, at } = message
  return { id: raw.id, from, source, external_id, event, delivery, at, ...details(message) }
}

const notFound = (action: string, id: string, { where, command }: Kind, { flags }: Context) =>
  cannot(action, `no message "${id}" is ${where}`, `see relay ${command} list${flags}`)

const missingText = (missing: readonly string[]) =>
  missing.length === 0 ? [] : [`Not found: ${missing.join(', ')}.`]

const hiddenText = (hidden: number) =>
  hidden === 0
    ? []
    : [
        `${count(hidden, 'more message')} not shown: beyond --limit, or behind another message of the same order.`,
      ]

const missingFrom = (messages: readonly Message[], ids: readonly string[]) => {
  const found = new Set(messages.flatMap(idsOf))
  return ids.filter(id => !found.has(id))
}

const collect = async (context: Context, kind: Kind, selection: Selection) => {
  const messages: Message[] = []
  const counts = await visitSelected(context, kind, selection, async message => {
    messages.push(message)
    return 'keep'
  })
  return { messages, ...counts }
}

const list = async (context: Context, kind: Kind, selection: Selection): Promise<Report> => {
  const { messages, total, hidden } = await collect(context, kind, selection)
  const columns = Object.entries(kind.columns)
  const headings = columns.map(([heading]) => heading)
  const rows = messages.map(message => columns.map(([, cell]) => cell(message)))
  return {
    data: { [kind.key]: messages.map(message => summary(kind, message)), total },
    text:
      total === 0
        ? `${kind.none} in ${context.title}.`
        : [table(headings, rows), ...hiddenText(hidden)].join('\n'),
  }
}

const show = async (context: Context, kind: Kind, id: string, selection: Selection): Promise<Report> => {
  const { messages } = await collect(context, kind, selection)
  const [message] = messages
  if (message === undefined) throw notFound('show the message', id, kind, context)
  const { at, ...rest } = summary(kind, message)
  const json = jsonOf(message.body)
  const body = json === undefined ? message.body.toString('utf8') : JSON.stringify(json, null, 2)
  return {
    data: { ...rest, at, ...kind.content(message) },
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
    orders: ordersOf(context),
    readService: async order => {
      reader ??= accountingOf(context).then(orderReader)
      return (await reader)(order)
    },
  })
  const planned: { message: Message; plan: Plan }[] = []
  const { hidden } = await planEach(context, kind, selection, async (message, plan) => {
    planned.push({ message, plan })
    return 'keep'
  })

  const predicted = []
  for (const { message, plan } of planned) {
    const event = plan.outcome === 'replayed' ? plan.event : undefined
    const prediction: Prediction =
      event === undefined ? { calls: [], publishes: [] } : await predictEvent(event)
    const note = plan.outcome === 'replayed' ? plan.note : OUTCOMES[plan.outcome]
    predicted.push({
      message,
      prediction,
      text: event === undefined ? `  ${note}` : predictionText(prediction),
    })
  }
  const calls = callCounts(predicted.flatMap(({ prediction }) => prediction.calls))
  return {
    data: {
      dry_run: true,
      [kind.key]: predicted.map(({ message, prediction }) => ({ ...summary(kind, message), ...prediction })),
      calls,
      hidden,
    },
    text: [
      ...predicted.flatMap(({ message: { raw, source = '-', external_id = '-', event = '-' }, text }) => [
        visible(`${raw.id}  ${source} ${external_id}  ${event}`),
        text,
      ]),
      callCountsText(calls),
      ...hiddenText(hidden),
    ].join('\n'),
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

  const missing = missingFrom(
    done.map(({ message }) => message),
    selection.ids,
  )
  const [first] = missing
  if (first !== undefined && done.length === 0) throw notFound('replay the message', first, kind, context)
  const others = done.filter(({ outcome }) => outcome !== 'replayed')
  return {
    data: {
      [kind.key]: done.map(({ message, outcome }) => ({ ...summary(kind, message), outcome })),
      replayed: idsWith('replayed'),
      behind: idsWith('behind'),
      missing,
      hidden: left,
    },
    ok: missing.length === 0 && left === 0 && others.every(({ outcome }) => outcome === 'duplicate'),
    text: [
      `Replayed ${count(idsWith('replayed').length, 'message')}.`,
      ...others.map(({ message, outcome }) => `${message.raw.id}  ${OUTCOMES[outcome]}`),
      ...missingText(missing),
      ...hiddenText(left),
    ].join('\n'),
  }
}

const discard = async (context: Context, kind: Kind, selection: Selection): Promise<Report> => {
  const gone: Message[] = []
  await visitSelected(context, kind, selection, async message => {
    gone.push(message)
    return 'delete'
  })
  const missing = missingFrom(gone, selection.ids)
  const [first] = missing
  if (first !== undefined && gone.length === 0) throw notFound('discard the message', first, kind, context)
  return {
    data: {
      discarded: gone.map(message => ({ ...summary(kind, message), ...kind.content(message) })),
      missing,
    },
    ok: missing.length === 0,
    text: [`Discarded ${count(gone.length, 'message')}.`, ...missingText(missing)].join('\n'),
  }
}

/** The service has its daily work beside a replay. */
const REPLAY_RATE = 20

/** Adds `list`, `show`, `replay` and `discard` to the command of a kind of message. */
export const messageCommands = (
  { program, run }: Cli,
  kind: Kind,
  help: { command: string; list: string; show: string; replay: string },
): void => {
  const { source, order, event, since, limit } = selectionOptions
  const ID = 'message id, or id of the delivery or request in it'
  const command = program.command(kind.command).description(help.command)
  command
    .command('list')
    .description(help.list)
    .addOption(source())
    .addOption(order())
    .addOption(event())
    .addOption(since())
    .addOption(limit())
    .action((options, called) => run(called, context => list(context, kind, { ids: [], ...options })))
  command
    .command('show')
    .description(help.show)
    .argument('<id>', ID)
    .addOption(limit())
    .action((id, options, called) =>
      run(called, context => show(context, kind, id, { ids: [id], ...options })),
    )
  command
    .command('replay')
    .description(help.replay)
    .argument('[ids...]', ID)
    .addOption(source())
    .addOption(order())
    .addOption(event())
    .addOption(since())
    .option('--all', 'every message')
    .option('--dry-run', 'send nothing; show the create, payment and refund calls a replay leads to')
    .option('--rate <number>', 'messages to replay per second', positive, REPLAY_RATE)
    .addOption(limit(Number.POSITIVE_INFINITY))
    .action((ids, { all, dryRun: isDryRun, rate, ...options }, called) =>
      run(called, async context => {
        const selection = { ids, ...options }
        requireSelection('replay', selection, all === true)
        return isDryRun ? predict(context, kind, selection) : replay(context, kind, selection, rate)
      }),
    )
  command
    .command('discard')
    .description('Delete messages permanently. With --json, their content is printed once more.')
    .argument('<ids...>', ID)
    .addOption(limit())
    .action((ids, options, called) => run(called, context => discard(context, kind, { ids, ...options })))
}
