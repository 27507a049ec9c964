const INTERRUPTED = 130

/**
 * Does some work and then cleans up, also when it is interrupted (Ctrl-C).
 *
 * @param cleanup may be called while the work is still under way
 */
export const withCleanup = async <Result>(
  work: () => Promise<Result>,
  cleanup: () => Promise<void>,
): Promise<Result> => {
  const stop = () => void cleanup().finally(() => process.exit(INTERRUPTED))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    return await work()
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
    await cleanup()
  }
}
