import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { addressOf } from '../../test/support/address.ts'

export type Answered = {
  /** The result of the function, as JSON text. */
  body: string
  /** When the event was handed over and when the result came, in milliseconds of `performance.now()`. */
  from: number
  to: number
}

type Waiting = { resolve: (answered: Answered) => void; reject: (error: Error) => void; event: string }

/** A trace that Lambda does not sample. */
const UNSAMPLED = 'Root=1-00000000-000000000000000000000000;Parent=0000000000000000;Sampled=0'

/** Lambda's Runtime API (2018-06-01) on the loopback address, for one function. */
export const startRuntimeApi = async (trace = UNSAMPLED) => {
  const queue: Waiting[] = []
  const ready = Promise.withResolvers<number>()
  let idle: ServerResponse | undefined
  let current: (Waiting & { from: number }) | undefined

  const handOver = () => {
    const next = queue[0]
    if (idle === undefined || next === undefined) return
    queue.shift()
    current = { ...next, from: performance.now() }
    idle.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': randomUUID(),
      'lambda-runtime-deadline-ms': String(Date.now() + 30_000),
      'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:eu-central-1:000000000000:function:bench',
      'lambda-runtime-trace-id': trace,
    })
    idle.end(next.event)
    idle = undefined
  }

  const fail = (reason: string) => {
    const error = new Error(`Cannot measure: ${reason}`)
    ready.reject(error)
    current?.reject(error)
    for (const { reject } of queue.splice(0)) reject(error)
  }
  // A failure rejects the invocations; nobody needs to wait for the start.
  ready.promise.catch(() => undefined)

  const server = createServer(async (request, response) => {
    const to = performance.now()
    if (request.url?.endsWith('/invocation/next')) {
      ready.resolve(to)
      idle = response
      handOver()
      return
    }
    const body = await text(request)
    response.writeHead(202).end()
    if (request.url?.endsWith('/response')) current?.resolve({ body, from: current.from, to })
    else fail(`the function failed: ${body}`)
  })
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')

  return {
    address: addressOf(server).replace('http://', ''),
    /** When the function first asked for an event. */
    ready: ready.promise,
    /** Hands an event over as soon as the function asks for one. */
    invoke: (event: unknown) =>
      new Promise<Answered>((resolve, reject) => {
        queue.push({ resolve, reject, event: JSON.stringify(event) })
        handOver()
      }),
    /** Rejects all invocations that wait for the function. */
    fail,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
