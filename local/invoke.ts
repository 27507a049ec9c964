import { urlOf } from './settings.ts'

/** Calls a function with an event and waits for its answer; rejects when the function failed. */
export type Invoke = (event: unknown) => Promise<unknown>

/** Calls a function of serverless-offline by its own copy of Lambda's Invoke API. */
export const invoker =
  ({ port, functionName }: { port: number; functionName: string }): Invoke =>
  async event => {
    const url = `${urlOf(port)}/2015-03-31/functions/${encodeURIComponent(functionName)}/invocations`
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(event) })
    const text = await response.text()
    const failed = !response.ok || response.headers.has('x-amz-function-error')
    if (failed) throw new Error(`Cannot run ${functionName}: HTTP ${response.status} ${text.slice(0, 500)}`)
    return text === '' ? undefined : JSON.parse(text)
  }
