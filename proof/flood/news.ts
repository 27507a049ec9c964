import * as v from 'valibot'
import { LIVE_EVERY_MS, RESIDENT_EVERY_MS } from './memory.ts'

const count = v.pipe(v.number(), v.integer())

/** What a process of the flood tells the program that started it, one line of JSON each. */
const news = v.partial(
  v.object({
    /** It is at work, listening here. */
    ready: count,
    /** Bytes of memory that it holds. */
    rss: count,
    /** Bytes of it that are in use once garbage is collected. */
    live: count,
    /** How much has been sent. */
    sent: count,
    /** How often each kind was answered in which way. */
    answers: v.record(v.string(), count),
    /** Answers of 503 and broken connections, after which the sender came again. */
    unavailable: count,
    /** How often who called what for which kind of delivery: `receiver GetItem first`. */
    calls: v.record(v.string(), count),
    /** Calls that the caller did not wait for. */
    brokenOff: count,
  }),
)

export type News = v.InferOutput<typeof news>

const line = v.pipe(v.string(), v.parseJson(), v.looseObject({ flood: news }))

export const tell = (said: News): void => {
  process.stdout.write(`${JSON.stringify({ flood: said })}\n`)
}

/** What a line says; undefined when it is no news but something that went wrong. */
export const readNews = (text: string): News | undefined => {
  const read = v.safeParse(line, text)
  return read.success ? read.output.flood : undefined
}

/** Tells time and again how much memory this process holds, and what of it is in use where that can be asked. */
export const tellMemory = (): void => {
  setInterval(() => tell({ rss: process.memoryUsage.rss() }), RESIDENT_EVERY_MS).unref()
  const { gc } = globalThis
  if (gc === undefined) return
  setInterval(() => {
    gc()
    const { heapUsed, external } = process.memoryUsage()
    tell({ live: heapUsed + external })
  }, LIVE_EVERY_MS).unref()
}

/** Resolves when the process is to end. */
export const askedToEnd = (): Promise<void> =>
  new Promise(resolve => {
    process.once('SIGTERM', () => resolve())
    // Ctrl-C reaches the whole group; the program that started it decides when what ends.
    process.on('SIGINT', () => undefined)
  })
