type Handler = (...args: unknown[]) => unknown

const errorOf = (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(`threw ${String(thrown)}`))

/**
 * Runs a handler as Lambda does: anything it throws, at any time, fails only its invocation, and its result is JSON.
 * serverless-offline treats a thrown value that is not an Error as a result, and exits with the thread.
 */
export const asLambda = (handler: Handler): Handler => {
  // A thread runs one invocation at a time.
  let fail: (error: Error) => void = error => console.error(error)
  process.on('uncaughtException', thrown => fail(errorOf(thrown)))
  process.exit = code => {
    throw new Error(`exited with code ${code ?? 0}`)
  }
  return async (...args) => {
    const failed = new Promise<never>((_resolve, reject) => {
      fail = reject
    })
    try {
      const result = await Promise.race([failed, handler(...args)])
      return result === undefined ? null : JSON.parse(JSON.stringify(result))
    } catch (thrown) {
      throw errorOf(thrown)
    }
  }
}
