import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:dgram'

/**
 * What a subsegment says about a call, in the fields of X-Ray's segment documents. Only names of services, tables and
 * queues: paths and messages hold order numbers and may hold personal data (promise P11).
 */
export type CallRecord = {
  name: string
  namespace: 'aws' | 'remote'
  /** Of the answer; none when there was no answer. */
  status: number | undefined
  throttle?: boolean
  request?: { method: string; url: string }
  aws?: Readonly<Record<string, string | number | undefined>>
}

type Outcome<Result> = { result: Result } | { error: unknown }

/** The header of a datagram to the X-Ray daemon. */
const FORMAT = '{"format":"json","version":1}\n'

let socket: Socket | undefined

/** Sends a document to the daemon of Lambda; a trace is never worth a failure. */
const send = (daemon: string, document: object) => {
  if (socket === undefined) {
    // Not loaded before the first sampled invocation.
    socket = process.getBuiltinModule('node:dgram').createSocket('udp4').unref()
    socket.on('error', () => undefined)
  }
  const [host, port] = daemon.split(':')
  socket.send(FORMAT + JSON.stringify(document), Number(port), host, () => undefined)
}

const newId = () => randomBytes(8).toString('hex')

/**
 * The trace of this invocation when Lambda samples it. It is read for each call: Lambda sets it for each invocation,
 * and has none while a function starts.
 */
const sampledTrace = () => {
  const { _X_AMZN_TRACE_ID: header, AWS_XRAY_DAEMON_ADDRESS: daemon } = process.env
  if (daemon === undefined || !header?.includes('Sampled=1')) return undefined
  const [, root] = /Root=([^;]+)/.exec(header) ?? []
  const [, parent] = /Parent=([^;]+)/.exec(header) ?? []
  return root === undefined || parent === undefined ? undefined : { root, parent, daemon }
}

const documentOf = <Result>(
  outcome: Outcome<Result>,
  { name, namespace, status, throttle = false, request, aws }: CallRecord,
) => ({
  name,
  namespace,
  aws,
  http: { request, ...(status !== undefined && { response: { status } }) },
  throttle: throttle || status === 429,
  error: status !== undefined && status >= 400 && status < 500,
  fault: status === undefined || status >= 500,
  ...('error' in outcome && {
    cause: {
      exceptions: [
        { id: newId(), type: outcome.error instanceof Error ? outcome.error.name : 'Error', remote: true },
      ],
    },
  }),
})

/**
 * Makes a call and records it as a subsegment of the invocation's trace when Lambda samples that; otherwise it only
 * makes the call.
 *
 * @param call is given the trace header with which what it calls belongs to the subsegment
 */
export const traced = async <Result>(
  call: (traceHeader?: string) => Promise<Result>,
  recordOf: (outcome: Outcome<Result>) => CallRecord,
): Promise<Result> => {
  const trace = sampledTrace()
  if (trace === undefined) return call()
  const { root, parent, daemon } = trace
  const id = newId()
  const start = Date.now() / 1000
  const finish = (outcome: Outcome<Result>) =>
    send(daemon, {
      ...{ type: 'subsegment', id, trace_id: root, parent_id: parent },
      ...{ start_time: start, end_time: Date.now() / 1000 },
      ...documentOf(outcome, recordOf(outcome)),
    })
  try {
    const result = await call(`Root=${root};Parent=${id};Sampled=1`)
    finish({ result })
    return result
  } catch (error) {
    finish({ error })
    throw error
  }
}
