import { cannot } from './errors.ts'

/** Runs `work` with a signal that the first Ctrl-C aborts; a second one ends the process. */
export const interruptible = async <Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const controller = new AbortController()
  const stop = () => controller.abort(cannot('finish', 'interrupted'))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    return await work(controller.signal)
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}
