import { writeFile } from 'node:fs/promises'
import { Option } from '@commander-js/extra-typings'
import { visible } from '@order-relay/lib/platform/visible.ts'
import type { Cli } from '../core/command.ts'
import { assertFound, type Context } from '../core/context.ts'
import { cannot, messageOf, usageError } from '../core/errors.ts'
import { ORDER, positive, SOURCE, since } from '../core/options.ts'
import { count, facts, lines, type Report, shellWord, table, visibleLines } from '../core/output.ts'
import { confirmName, readInput } from '../core/terminal.ts'
import {
  collect,
  deletedAt,
  groupsOf,
  isDone,
  type Kind,
  type Message,
  type Selection,
  summaryOf,
  textOf,
} from '../model/message.ts'
import { carryOut, type MessageAction, PACING } from './carry-out.ts'
import { type Operation, operationsOf } from './history.ts'
import { deletionText, makePlan, nameOf, OUTCOMES, planText, readPlan, selectionOf } from './plan.ts'

const notFound = (action: string, id: string | undefined, { where, command }: Kind, { flags }: Context) =>
  cannot(`${action} the message`, `no message "${id}" is ${where}`, `see relay ${command} list${flags}`)

const dayDeleted = (message: Message) => deletedAt(message).toISOString().slice(0, 10)

const hiddenText = (hidden: number, missed = 'not shown', other = 'read by another command') =>
  hidden > 0 &&
  `${count(hidden, 'more message')} ${missed}: beyond --limit, behind another message of the same order, or ${other}.`

const list = async (context: Context, kind: Kind, selection: Selection, isGrouped = false) => {
  const { messages, total, hidden } = await collect(context, kind, selection)
  assertFound(context, selection.source, messages.length)
  const groups = groupsOf(messages)
  const columns = { ...kind.columns, 'DELETED ON': dayDeleted }
  const rows = messages.map(each => Object.values(columns).map(cell => cell(each)))
  const found = isGrouped
    ? table(['GROUP', 'COUNT', 'FIRST', 'LAST', 'FAILURE'], groups.map(Object.values))
    : table(Object.keys(columns), rows)
  return {
    data: { ...(isGrouped ? { groups } : { [kind.key]: messages.map(summaryOf) }), total },
    text: total === 0 ? `${kind.none} in ${context.title}.` : lines(found, hiddenText(hidden)),
  }
}

const show = async (context: Context, kind: Kind, selection: Selection): Promise<Report> => {
  const { messages } = await collect(context, kind, selection)
  const [message] = messages
  if (message === undefined) throw notFound('show', selection.ids?.[0], kind, context)
  const { at, ...rest } = summaryOf(message)
  return {
    data: { ...rest, at, ...message.content },
    text: `${facts({ ...rest, since: at })}\n${visibleLines(textOf(message))}`,
  }
}

/** The operators' actions of a command. */
export const operationsReport = async (
  context: Context,
  command: Operation['command'],
  limit: number,
): Promise<Report> => {
  const operations = await operationsOf(context, command, { limit })
  const rows = operations.map(({ at, by, action, name, counts, stopped, ended, reason }) => {
    const did = Object.entries(counts).map(([outcome, number]) => `${number} ${outcome}`)
    const state = stopped ?? (ended === undefined ? 'running, or killed' : undefined)
    return [at, by, action, name, did.join(', '), state, reason]
  })
  const headings = ['AT', 'BY', 'ACTION', 'NAME', 'RESULT', 'STOPPED', 'REASON']
  return {
    data: { operations },
    text: rows.length === 0 ? `No operations in ${context.title}.` : table(headings, rows),
  }
}

/** The selected messages. */
type Named = Selection & { all?: true | undefined; from?: string | undefined }

/**
 * Requires an explicit selection, so that nothing acts on every message by accident.
 *
 * @throws Failure if there is none, or if selections contradict each other
 */
const requireSelection = (action: string, { ids, all, from, limit: _, ...filters }: Named): void => {
  const isFiltered = Object.values(filters).some(value => value !== undefined)
  if (ids === undefined && !all && from === undefined && !isFiltered)
    throw usageError(action, 'no message is selected', 'pass ids, a filter such as --source, or --all')
  if (from === undefined ? ids && all : ids || all || isFiltered)
    throw usageError(action, 'the messages are named in two ways', 'pass ids, --all or --from alone')
}

type Options = Named & {
  dryRun?: true | undefined
  plan?: string | undefined
  reason?: string | undefined
  rate?: number
  stopAfter?: number
  yes?: string | undefined
}

/** Maximum number of messages to name before they are deleted. */
const NAMED = 20

/** What becomes of the requests in messages that are not done. */
const deletionsText = async (context: Context, kind: Kind, messages: readonly Message[]) => {
  const undone = messages.filter(({ done }) => !done)
  const texts: string[] = []
  for (const message of undone.slice(0, NAMED)) {
    const deleted = await kind.whenDeleted?.(context, message)
    if (deleted !== undefined) texts.push(...deletionText(deleted).map(text => `${message.raw.id}  ${text}`))
  }
  const more = texts.length > 0 && undone.length > NAMED ? ['For the others, see --dry-run.'] : []
  return [...texts, ...more].map(text => `${visible(text)}\n`).join('')
}

const act = async (context: Context, kind: Kind, action: MessageAction, options: Options) => {
  const { dryRun, plan: file, reason, yes, rate, stopAfter, ...named } = options
  const pacing = { rate: rate ?? Number.POSITIVE_INFINITY, stopAfter: stopAfter ?? PACING.stopAfter }
  requireSelection(action, named)
  const { all: _, from, ...given } = named
  const plan =
    from === undefined ? undefined : readPlan(String(await readInput(from)), context, kind.command, action)
  let selection: Selection = plan === undefined ? given : selectionOf(plan)

  if (dryRun || file !== undefined) {
    const made = await makePlan(context, kind, { action, selection })
    assertFound(context, given.source, made.messages.length)
    if (file !== undefined) {
      await writeFile(file, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 }).catch(error => {
        throw cannot(`write the plan to "${file}"`, messageOf(error))
      })
    }
    const command = `relay ${kind.command} ${action} --from ${shellWord(file ?? '')}${context.flags}`
    const saved = file !== undefined && `The plan is in ${file}; to carry it out: ${command}`
    return { data: made, text: lines(planText(made), hiddenText(made.hidden), saved) }
  }

  let name = plan?.name ?? nameOf(selection)
  if (action === 'discard') {
    const { messages } = await collect(context, kind, selection)
    assertFound(context, given.source, messages.length)
    if (yes === undefined) context.terminal.stderr.write(await deletionsText(context, kind, messages))
    if (selection.ids === undefined) {
      // Messages that arrive from here on are not deleted.
      name = nameOf(selection, messages.length)
      // Checks again whether each message is already done.
      const { limit, done } = selection
      selection = { ids: messages.map(({ raw }) => raw.id), limit, done }
    }
    // A given name is checked even if nothing is found: a script expects the messages that it names.
    if (selection.ids?.length !== 0 || yes !== undefined)
      await confirmName(context.terminal, `${action} ${name}`, name, yes)
  }
  const task = {
    action,
    selection,
    name,
    ...(plan && { plan: plan.plan, failure: plan.failure }),
    ...(reason && { reason }),
  }
  const ended = await carryOut(context, kind, task, pacing)
  assertFound(context, given.source, ended.done.length)
  return reportOf(context, kind, task, ended)
}

const DONE: Readonly<Record<MessageAction, string>> = { replay: 'replayed', discard: 'discarded' }

const reportOf = (
  context: Context,
  kind: Kind,
  { action, selection, plan }: { action: MessageAction; selection: Selection; plan?: string },
  { done, missing, hidden, stopped }: Awaited<ReturnType<typeof carryOut>>,
): Report => {
  const [gone] = missing
  if (done.length === 0 && gone !== undefined && plan === undefined)
    throw notFound(action, gone, kind, context)
  const idsWith = (wanted: string) =>
    done.flatMap(({ message, outcome }) => (outcome === wanted ? [message.raw.id] : []))
  const succeeded = idsWith(DONE[action])
  const others = done.filter(({ outcome }) => outcome !== DONE[action])
  // A selection by ids intentionally leaves all other messages.
  const left = selection.ids === undefined || missing.length > 0 ? hidden : 0
  return {
    data: {
      [kind.key]: done.map(({ message, outcome }) => ({
        ...summaryOf(message),
        outcome,
        ...(action === 'discard' && message.content),
      })),
      [DONE[action]]: succeeded,
      behind: idsWith('behind'),
      missing,
      hidden: left,
      stopped,
    },
    ok:
      stopped === undefined &&
      left === 0 &&
      (missing.length === 0 || plan !== undefined) &&
      others.every(({ outcome }) => isDone(outcome)),
    text: lines(
      `${action === 'replay' ? 'Replayed' : 'Discarded'} ${count(succeeded.length, 'message')}.`,
      others.map(({ message: { raw, error }, outcome }) =>
        visible(
          `${raw.id}  ${OUTCOMES[outcome]}${outcome === 'failed' && error !== undefined ? `: ${error}` : ''}`,
        ),
      ),
      idsWith('failed').length > 0 &&
        `To see why a message failed again: relay tail --errors${context.flags}`,
      missing.length > 0 &&
        `${plan === undefined ? 'Not found' : 'Gone since the plan was made, replayed or discarded'}: ${missing.join(', ')}.`,
      hiddenText(left, `not ${DONE[action]}`, 'held by another command, which may still handle them'),
      stopped !== undefined && `Stopped: ${stopped}. Run the command again for the others.`,
    ),
  }
}

const EVENT = new Option('--event <event>', 'only this event, such as order.payment')
const SINCE = new Option('--since <when>', 'only messages since: 2h, 7d, or a date').argParser(since)
const limitOption = () =>
  new Option('--limit <number>', 'maximum number of messages to read').argParser(positive)
const LIMIT = limitOption().default(1000)

const GROUP = new Option('--group <name>', 'only this group of failures; the groups command lists them')

const DONE_OPTION = new Option('--done', 'only messages whose order shows that they are already done')

const idsIn = (ids: readonly string[]) => (ids.length === 0 ? {} : { ids })

/** Adds the subcommands that dead letters and the quarantine share. */
export const messageCommands = (
  { program, run }: Cli,
  kind: Kind,
  help: { command: string; list: string; show: string; replay: string; discard?: string },
): void => {
  const ID = 'message id, or id of the delivery or request in it'
  const command = program.command(kind.command).description(help.command)
  const filtered = (name: string, description: string) =>
    command
      .command(name)
      .description(description)
      .addOption(SOURCE)
      .addOption(ORDER)
      .addOption(EVENT)
      .addOption(SINCE)
      .addOption(GROUP)
      .addOption(DONE_OPTION)
  filtered(
    'groups',
    'Group the messages by failure, with the number of messages and the times of the first and last one.',
  )
    .addOption(LIMIT)
    .action(run((context, options) => list(context, kind, options, true)))
  filtered('list', help.list)
    .addOption(LIMIT)
    .action(run((context, options) => list(context, kind, options)))
  command
    .command('show')
    .description(help.show)
    .argument('<id>', ID)
    .addOption(LIMIT)
    .action(run((context, id, { limit }) => show(context, kind, { ids: [id], limit })))

  const action = (name: MessageAction, description: string) =>
    filtered(name, description)
      .argument('[ids...]', ID)
      .option('--all', 'every message')
      .option('--dry-run', 'only show the plan: the messages, and the calls to the service that they cause')
      .option('--plan <file>', 'like --dry-run, and write the plan to a file')
      .option('--from <file>', 'carry out the plan in this file, with exactly its messages')
      .option('--reason <text>', 'reason, for the history')
      .addOption(limitOption().default(Number.POSITIVE_INFINITY, 'all'))
  action('replay', help.replay)
    .option('--rate <number>', 'messages to replay per second', positive, PACING.rate)
    .option('--stop-after <number>', 'stop after this many consecutive failures', positive, PACING.stopAfter)
    .action(run((context, ids, options) => act(context, kind, 'replay', { ...idsIn(ids), ...options })))
  action(
    'discard',
    [
      'Delete messages permanently, after confirmation by typing their name: the id, or the filter and the number of messages.',
      ...(help.discard === undefined ? [] : [help.discard]),
      'With --json, their content is printed first.',
    ].join(' '),
  )
    .option('--yes <name>', 'the name, for scripts')
    .action(run((context, ids, options) => act(context, kind, 'discard', { ...idsIn(ids), ...options })))
  command
    .command('history')
    .description('List past replays and deletions: when, by whom and why.')
    .addOption(limitOption().default(50))
    .action(run((context, { limit }) => operationsReport(context, kind.command, limit)))
}
