import * as v from 'valibot'
import { plan } from './plan.ts'

const port = v.pipe(v.number(), v.integer())

/** What each process of the flood is told when it starts. */
const settings = v.object({
  plan,
  region: v.string(),
  ports: v.object({ dynamodb: port, sqs: port, ssm: port, sandbox: port }),
  /** A directory of its own for the data. */
  directory: v.string(),
  /** Where the webhook receivers listen; known to the sender alone. */
  receivers: v.array(port),
  secret: v.string(),
  /** Requests under way at once. */
  lanes: v.number(),
  /** The sender rests while so many messages wait on the order line. */
  backlog: v.number(),
  functions: v.object({ webhook: v.string(), worker: v.string() }),
})

export type Settings = v.InferOutput<typeof settings>

const VARIABLE = 'ORDER_RELAY_FLOOD'

export const toEnvironment = (chosen: Settings): Record<string, string> => ({
  [VARIABLE]: JSON.stringify(chosen),
})

export const fromEnvironment = (): Settings =>
  v.parse(v.pipe(v.string(), v.parseJson(), settings), process.env[VARIABLE])

const bundle = v.looseObject({ handler: v.function() })

/** Loads a bundled function and gives it the context that Lambda would. */
export const loadFunction = async (url: string, seconds: number) => {
  const { handler } = v.parse(bundle, await import(url))
  return async (event: unknown): Promise<unknown> => {
    const until = Date.now() + seconds * 1000
    return handler(event, { getRemainingTimeInMillis: () => until - Date.now() })
  }
}
