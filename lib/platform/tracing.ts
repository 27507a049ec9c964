import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:dgram'

/**
 * The data of a subsegment, in the fields of X-Ray's segment documents. Only names of services, tables and queues:
 * paths and messages contain order numbers and may contain personal data (promise P11).
 */
export type CallRecord = {
  name: string
  namespace: 'aws' | 'remote'
  /** Of the response, if there was one. */
  status: number | undefined
  throttle?: boolean
  request?: { method: string; url: string }
  aws?: Readonly<Record<string, string | number | undefined>>
}

type Outcome<Result> = { result: Result } | { error: unknown }

/** The header of a datagram to the X-Ray daemon. */
const FORMAT = '{"format":"json","version":1}\n'

let socket: Socket | undefined

/** Sends a document to Lambda's X-Ray daemon; errors are ignored, since a trace is never worth a failure. */
const send = (daemon: string, document: object) => {
  const [host, port] = daemon.split(':')
  try {
    // Not loaded before the first sampled invocation.
    socket ??= process.getBuiltinModule('node:dgram').createSocket('udp4').unref()
    socket.send(FORMAT + JSON.stringify(document), Number(port), host, () => undefined)
  } catch {
    // Not an address.
  }
}

const newId = () => randomBytes(8).toString('hex')

/**
 * Makes a call and, if Lambda samples the invocation, records it as a subsegment of its trace.
 *
 * @param call receives the trace header that links further calls to the subsegment
 */
export const traced = async <Result>(
  call: (traceHeader?: string) => Promise<Result>,
  recordOf: (outcome: Outcome<Result>) => CallRecord,
): Promise<Result> => {
  // Lambda sets the header for each invocation; it is missing during initialization.
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
    type: 'subsegment',
    name,
    namespace,
    id,
    trace_id: root,
    parent_id: parent,
    start_time: start,
    end_time: Date.now() / 1000,
    aws,
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
