import type { Context } from '../core/context.ts'
import { cannot, explain } from '../core/errors.ts'
import type { Live } from './live.ts'

/** Work that takes longer than a request: its progress and, once it has ended, its outcome. */
type Job = {
  progress?: { text: string; reached: number; total: number | undefined }
  end?: { at: Date; text?: string | undefined; failure?: string }
}

/** Runs long work, at most one job per name at a time. Pages follow all jobs as one kind of change. */
export const createJobs = (context: Context, live: Live, kind: string) => {
  const jobs = new Map<string, Job>()
  const stops = new Map<string, () => void>()
  live.poll(kind, 500, async () => structuredClone([...jobs]))
  return {
    /** The current or last job with this name. */
    of: (name: string) => jobs.get(name),
    stop: (name: string) => stops.get(name)?.(),
    /**
     * @param action such as `resend the orders`
     * @param work reports its progress to the terminal of the given context, and returns its outcome
     * @throws Failure while the previous job with this name is running
     */
    start: (
      name: string,
      action: string,
      work: (context: Context, signal: AbortSignal) => Promise<{ text: string } | undefined>,
    ) => {
      const former = jobs.get(name)
      if (former !== undefined && former.end === undefined) {
        throw cannot(action, 'the previous one is still running', 'wait for it to finish, or stop it')
      }
      const [job, stop]: [Job, AbortController] = [{}, new AbortController()]
      jobs.set(name, job)
      stops.set(name, () => stop.abort(cannot('finish', 'interrupted')))
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
