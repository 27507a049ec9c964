import { cannot } from '../failure.ts'
import type { Place } from '../place/place.ts'
import type { Quarantined } from '../queues/quarantined.ts'
import type { Selection } from '../queues/selection.ts'
import type { Report } from '../report.ts'
import { count, facts, table, visibleLines } from '../table.ts'
import type { Choice } from './dead.ts'
import { outlook, outlookText, tally, tallyText } from './outlook.ts'
import { eachQuarantined, type Outcome, replayQuarantined } from './quarantine.ts'

type Options = Selection & { limit: number }

/** What ids and filters choose. */
export const choiceOf = (ids: readonly string[], { limit, ...selection }: Options): Choice => ({
  ids,
  selection,
  limit,
})

const summary = ({ letter, from, reason, reading, source, external_id, event, at, body }: Quarantined) => ({
  id: letter.id,
  from,
  source,
  external_id,
  event,
  at,
  bytes: body.length,
  reason,
  readable: !('unreadable' in reading),
})

const collect = async (place: Place, choice: Choice) => {
  const chosen: Quarantined[] = []
  const total = await eachQuarantined(place, choice, async found => {
    chosen.push(found)
    return 'leave'
  })
  return { chosen, total }
}

/** What is chosen, one a line. */
export const list = async (place: Place, options: Options): Promise<Report> => {
  const { chosen, total } = await collect(place, choiceOf([], options))
  const entries = chosen.map(summary)
  const rows = entries.map(({ id, from, at, bytes, readable, reason }) => [
    id,
    from,
    at.toISOString(),
    bytes,
    readable ? 'yes' : 'no',
    reason,
  ])
  return {
    data: { entries, total },
    text:
      total === 0
        ? `Nothing in quarantine in ${place.title}.`
        : table(['ID', 'FROM', 'SINCE', 'BYTES', 'READABLE NOW', 'REASON'], rows),
  }
}

const notFound = (action: string, id: string, place: Place) =>
  cannot(action, `no message "${id}" is in quarantine`, `see relay quarantine list${place.flags}`)

/** One message, whole. */
export const show = async (place: Place, id: string, options: Options): Promise<Report> => {
  const [found] = (await collect(place, choiceOf([id], options))).chosen
  if (found === undefined) throw notFound('show the quarantined message', id, place)
  const { at, ...rest } = summary(found)
  return {
    data: { ...rest, at, body: found.body.toString('utf8'), body_base64: found.body.toString('base64') },
    text: `${facts({ ...rest, since: at.toISOString() })}\n${visibleLines(found.body.toString('utf8'))}`,
  }
}

/** What a replay would lead to, and nothing done. */
export const rehearse = async (place: Place, choice: Choice): Promise<Report> => {
  const foresee = outlook(place)
  const { chosen } = await collect(place, choice)
  const entries = []
  for (const found of chosen) {
    const { reading } = found
    const foreseen = 'unreadable' in reading ? { calls: [] } : await foresee(reading.message)
    const text = 'unreadable' in reading ? `  stays: ${reading.unreadable}` : outlookText(foreseen)
    entries.push({ ...summary(found), ...foreseen, text })
  }
  const calls = tally(entries.flatMap(entry => entry.calls))
  return {
    data: { dry_run: true, entries: entries.map(({ text: _, ...entry }) => entry), calls },
    text: [...entries.map(({ id, text }) => `${id}\n${text}`), tallyText(calls)].join('\n'),
  }
}

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  replayed: 'went on the order line',
  'known already': 'had come again meanwhile and been read: removed',
  unreadable: 'still cannot be read: stays',
  foreign: 'is of a source that is not in stores.yml: stays',
}

/** Sends what is chosen again; fails when some of it could not be. */
export const replay = async (place: Place, ids: readonly string[], options: Options): Promise<Report> => {
  const outcomes = await replayQuarantined(place, choiceOf(ids, options))
  const [missing] = ids.filter(id => !outcomes.some(({ found }) => found.ids.includes(id)))
  if (missing !== undefined && outcomes.length === 0) throw notFound('replay', missing, place)
  const left = outcomes.filter(({ outcome }) => outcome === 'unreadable' || outcome === 'foreign')
  return {
    data: {
      entries: outcomes.map(({ found, outcome }) => ({ ...summary(found), outcome })),
      missing: ids.filter(id => !outcomes.some(({ found }) => found.ids.includes(id))),
    },
    ok: left.length === 0 && missing === undefined,
    text:
      outcomes.length === 0
        ? 'Nothing to replay.'
        : outcomes.map(({ found, outcome }) => `${found.letter.id}  ${OUTCOMES[outcome]}`).join('\n'),
  }
}

/** Deletes what is named, for good. */
export const discard = async (place: Place, ids: readonly string[], options: Options): Promise<Report> => {
  const gone: Quarantined[] = []
  await eachQuarantined(place, choiceOf(ids, options), async found => {
    gone.push(found)
    return 'take'
  })
  const [missing] = ids.filter(id => !gone.some(found => found.ids.includes(id)))
  if (missing !== undefined && gone.length === 0) throw notFound('discard', missing, place)
  return {
    data: {
      discarded: gone.map(found => ({ ...summary(found), body_base64: found.body.toString('base64') })),
    },
    ok: missing === undefined,
    text: `Discarded ${count(gone.length, 'message')}.${missing === undefined ? '' : ` Not found: ${missing}.`}`,
  }
}
