import { setTimeout as sleep } from 'node:timers/promises'
import { AwsError } from './error.ts'
import { type Post, poster } from './post.ts'
import { signed } from './sign.ts'

/** A service that speaks AWS JSON over POST. */
export type Service = {
  /** As in endpoints and signatures, such as `dynamodb`. */
  name: string
  /** What stands before the action in `X-Amz-Target`, such as `DynamoDB_20120810`. */
  target: string
  /** Of AWS JSON. */
  version: '1.0' | '1.1'
}

/** Calls an action of a service with its input and answers with its output. */
export type Call = (action: string, input: object) => Promise<unknown>

export type Options = {
  /** How long one try may take, in milliseconds. */
  timeout: number
  /** How often a call is tried when it fails in a way that may pass. */
  tries: number
  now?: () => Date
  random?: () => number
}

const setting = (name: string): string => {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`Cannot call AWS: ${name} is not set`)
  return value
}

/** Where a service is: at the address in the environment, as for every AWS SDK, else in its region. */
const endpointOf = (service: string, region: string): URL => {
  const { [`AWS_ENDPOINT_URL_${service.toUpperCase()}`]: own, AWS_ENDPOINT_URL: common } = process.env
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  return new URL(own || common || `https://${service}.${region}.${domain}`)
}

/** Lambda keeps a function's credentials in its environment, and nowhere else. */
const credentials = () => ({
  accessKeyId: setting('AWS_ACCESS_KEY_ID'),
  secretAccessKey: setting('AWS_SECRET_ACCESS_KEY'),
  sessionToken: process.env.AWS_SESSION_TOKEN || undefined,
})

/** What tells X-Ray, and AWS's guard against endless loops, which invocation a call belongs to. */
const trace = (): Record<string, string> => {
  const { _X_AMZN_TRACE_ID: id = '' } = process.env
  return id === '' ? {} : { 'x-amzn-trace-id': id }
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const property = (value: unknown, name: string): string => {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
  return typeof found === 'string' ? found : ''
}

/** The exception that an answer tells of; its type may have a namespace before it and an address behind it. */
const errorOf = (what: string, status: number, text: string): AwsError => {
  const body = jsonOf(text)
  const name = property(body, '__type').replace(/^.*#|:.*$/g, '') || `Status${status}`
  const words = property(body, 'message') || property(body, 'Message') || text.slice(0, 200)
  // An answer of 200 that is not JSON was made by something on the way.
  const passing =
    status < 300 || status >= 500 || status === 429 || /Throttl|ThroughputExceeded|LimitExceeded/.test(name)
  return new AwsError(name, `Cannot ${what}: ${name}: ${words}`, { passing })
}

/**
 * Makes the function that calls a service. It does of AWS's SDK what the functions of this project need, in
 * a fiftieth of its code: see docs/performance.md for what that is worth at a cold start.
 *
 * The returned function rejects with an AwsError.
 */
export const awsCall = (service: Service, options: Options): Call => {
  const { timeout, tries, now = () => new Date(), random = Math.random } = options
  const region = setting('AWS_REGION')
  const endpoint = endpointOf(service.name, region)
  const post: Post = poster(endpoint, timeout)

  const once = async (action: string, body: string): Promise<unknown> => {
    const what = `${action} (${service.name})`
    const headers = {
      'content-type': `application/x-amz-json-${service.version}`,
      'x-amz-target': `${service.target}.${action}`,
    }
    const own = signed(
      { host: endpoint.host, headers, body },
      { service: service.name, region, credentials: credentials(), now: now() },
    )
    const { status, text } = await post({ ...own, ...trace() }, body).catch(cause => {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new AwsError('Unreachable', `Cannot ${what}: ${why}`, { passing: true, cause })
    })
    const output = text === '' ? {} : jsonOf(text)
    if (status < 200 || status > 299 || output === undefined) throw errorOf(what, status, text)
    return output
  }

  return async (action, input) => {
    const body = JSON.stringify(input)
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(action, body)
      } catch (error) {
        if (!(error instanceof AwsError && error.passing) || attempt >= tries) throw error
        await sleep(50 + 100 * random())
      }
    }
  }
}
