import type { Context } from '../cli/core/context.ts'
import { cannot, explain } from '../cli/core/errors.ts'
import type { Live } from './live.ts'

/** Work that takes longer than a request: how far it is and, once it has ended, what it says. */
type Job = {
  progress?: { text: string; reached: number; total: number | undefined }
  end?: { at: Date; text?: string | undefined; failure?: string }
}

/** Runs work that takes long, at most one of a name at a time. Pages follow all of it as one kind of change. */
export const createJobs = (context: Context, live: Live, kind: string) => {
  const jobs = new Map<string, Job>()
  const stops = new Map<string, AbortController>()
  live.poll(kind, 500, async () => structuredClone([...jobs]))
  return {
    /** The present or last work of this name. */
    of: (name: string) => jobs.get(name),
    stop: (name: string) => stops.get(name)?.abort(cannot('finish', 'broken off')),
    /**
     * @param action such as `resend the orders`
     * @param work reports its progress to the terminal of the given context, and returns what it has to say
     * @throws Failure while the former work of this name goes on
     */
    start: (
      name: string,
      action: string,
      work: (context: Context, signal: AbortSignal) => Promise<{ text: string } | undefined>,
    ) => {
      const former = jobs.get(name)
      if (former !== undefined && former.end === undefined) {
        throw cannot(action, 'the last one has not ended', 'wait for the end, or stop it')
      }
      const [job, stop]: [Job, AbortController] = [{}, new AbortController()]
      jobs.set(name, job)
      stops.set(name, stop)
      const onProgress = (text: string, reached: number, total: number | undefined) => {
        job.progress = { text, reached, total }
      }
      work(
        { ...context, terminal: { ...context.terminal, onProgress } },
        AbortSignal.any([stop.signal, live.stopping]),
      ).then(
        said => {
          job.end = { at: new Date(), text: said?.text }
        },
        error => {
          job.end = { at: new Date(), failure: explain(error, context).message }
        },
      )
    },
  }
}
