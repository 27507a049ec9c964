import { cannot } from '../failure.ts'
import type { Place } from '../place/place.ts'
import type { Selection } from '../queues/selection.ts'
import type { Report } from '../report.ts'
import { count, facts, table, visibleLines } from '../table.ts'
import { type Choice, eachDead, type Found, replayDead } from './dead.ts'
import { outlook, outlookText, tally, tallyText } from './outlook.ts'

type Options = Selection & { limit: number }

/** What ids and filters choose. */
export const choiceOf = (ids: readonly string[], { limit, ...selection }: Options): Choice => ({
  ids,
  selection,
  limit,
})

const summary = ({ dead: { letter, source, external_id, event, delivery, at }, queue }: Found) => ({
  id: letter.id,
  from: queue.from,
  source,
  external_id,
  event,
  delivery,
  at,
})

/** What SQS keeps back: it hands out what waits behind another of its order only after that. */
const hiddenText = (hidden: number) =>
  hidden > 0
    ? `\n${count(hidden, 'more message')} out of sight: beyond --limit, or behind another of the same order and seen once that is replayed.`
    : ''

const collect = async (place: Place, choice: Choice) => {
  const chosen: Found[] = []
  let others = 0
  const total = await eachDead(
    place,
    choice,
    async found => {
      chosen.push(found)
      return 'leave'
    },
    () => {
      others++
    },
  )
  return { chosen, total, hidden: Math.max(0, total - chosen.length - others) }
}

/** What is chosen, one a line. */
export const list = async (place: Place, options: Options): Promise<Report> => {
  const { chosen, total, hidden } = await collect(place, choiceOf([], options))
  const letters = chosen.map(summary)
  const rows = letters.map(({ id, from, source, external_id, event, at }) => [
    id,
    from,
    source,
    external_id,
    event,
    at.toISOString(),
  ])
  return {
    data: { letters, total },
    text:
      total === 0
        ? `No dead letters in ${place.title}.`
        : `${table(['ID', 'FROM', 'SOURCE', 'ORDER', 'EVENT', 'SINCE'], rows)}${hiddenText(hidden)}`,
  }
}

const notFound = (action: string, id: string, place: Place) =>
  cannot(action, `no message "${id}" is in sight among the dead letters`, `see relay dead list${place.flags}`)

const pretty = (body: string) => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

/** One message, whole. */
export const show = async (place: Place, id: string, options: Options): Promise<Report> => {
  const [found] = (await collect(place, choiceOf([id], options))).chosen
  if (found === undefined) throw notFound('show the dead letter', id, place)
  const { at, ...rest } = summary(found)
  const { body, receives } = found.dead.letter
  return {
    data: { ...rest, at, receives, body },
    text: `${facts({ ...rest, since: at.toISOString() })}\n${visibleLines(pretty(body))}`,
  }
}

/** What a replay would lead to, and nothing done. */
export const rehearse = async (place: Place, choice: Choice): Promise<Report> => {
  const foresee = outlook(place)
  const { chosen, hidden } = await collect(place, choice)
  const letters = []
  for (const found of chosen) {
    const { message } = found.dead
    const foreseen = message === undefined ? { calls: [] } : await foresee(message)
    const text =
      message !== undefined
        ? outlookText(foreseen)
        : found.queue.from === 'feed'
          ? '  no call: the store would be told once more'
          : '  no call: the worker cannot read it and would put it into quarantine'
    letters.push({ ...summary(found), ...foreseen, text })
  }
  const calls = tally(letters.flatMap(({ calls }) => calls))
  return {
    data: { dry_run: true, letters: letters.map(({ text: _, ...letter }) => letter), calls, hidden },
    text: [
      ...letters.map(
        ({ id, source, external_id, event, text }) =>
          `${id}  ${source ?? '-'} ${external_id ?? '-'}  ${event ?? '-'}\n${text}`,
      ),
      tallyText(calls) + hiddenText(hidden),
    ].join('\n'),
  }
}

/** Sends what is chosen again; fails when some of it could not be. */
export const replay = async (place: Place, ids: readonly string[], options: Options): Promise<Report> => {
  const { replayed, behind } = await replayDead(place, choiceOf(ids, options))
  const reached = [...replayed, ...behind].flatMap(dead => dead.ids)
  const missing = ids.find(id => !reached.includes(id))
  if (missing !== undefined && replayed.length === 0) throw notFound('replay', missing, place)
  return {
    data: {
      replayed: replayed.map(({ letter }) => letter.id),
      behind: behind.map(({ letter }) => letter.id),
      missing: ids.filter(id => !reached.includes(id)),
    },
    ok: behind.length === 0 && missing === undefined,
    text: [
      `Replayed ${count(replayed.length, 'message')}.`,
      ...(behind.length > 0
        ? [
            `${count(behind.length, 'message')} not: another of the same order is before. Replay that first, or both with --order.`,
          ]
        : []),
      ...(missing === undefined
        ? []
        : [`Not in sight: ${ids.filter(id => !reached.includes(id)).join(', ')}.`]),
    ].join('\n'),
  }
}

/** Deletes what is named, for good. */
export const discard = async (place: Place, ids: readonly string[], options: Options): Promise<Report> => {
  const gone: Found[] = []
  await eachDead(place, choiceOf(ids, options), async found => {
    gone.push(found)
    return 'take'
  })
  const [missing] = ids.filter(id => !gone.some(({ dead }) => dead.ids.includes(id)))
  if (missing !== undefined && gone.length === 0) throw notFound('discard', missing, place)
  return {
    data: { discarded: gone.map(found => ({ ...summary(found), body: found.dead.letter.body })) },
    ok: missing === undefined,
    text: `Discarded ${count(gone.length, 'message')}.${missing === undefined ? '' : ` Not in sight: ${missing}.`}`,
  }
}
