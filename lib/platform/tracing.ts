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
  const [host, port] = daemon.split(':')
  try {
    // Not loaded before the first sampled invocation.
    socket ??= process.getBuiltinModule('node:dgram').createSocket('udp4').unref()
    socket.send(FORMAT + JSON.stringify(document), Number(port), host, () => undefined)
  } catch {
    // An address that is none.
  }
}

const newId = () => randomBytes(8).toString('hex')

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
  // Lambda sets the header for each invocation; there is none while a function starts.
  const { _X_AMZN_TRACE_ID: header = '', AWS_XRAY_DAEMON_ADDRESS: daemon } = process.env
  const [, root, parent] = /^Root=([^;]+);Parent=([^;]+);Sampled=1/.exec(header) ?? []
  if (daemon === undefined || root === undefined) return call()

  const id = newId()
  const start = Date.now() / 1000
  const outcome: Outcome<Result> = await call(`Root=${root};Parent=${id};Sampled=1`).then(
    result => ({ result }),
    error => ({ error }),
  )
  const { name, namespace, status, throttle = false, request, aws } = recordOf(outcome)
  send(daemon, {
    ...{ type: 'subsegment', name, namespace, id, trace_id: root, parent_id: parent },
    ...{ start_time: start, end_time: Date.now() / 1000, aws },
    http: { request, ...(status !== undefined && { response: { status } }) },
    throttle: throttle || status === 429,
    error: status !== undefined && status >= 400 && status < 500,
    fault: status === undefined || status >= 500,
    ...('error' in outcome && {
      cause: { exceptions: [{ id: newId(), type: Object(outcome.error).name, remote: true }] },
    }),
  })
  if ('error' in outcome) throw outcome.error
  return outcome.result
}
