import { buildApp } from 'fauxqs'
import * as v from 'valibot'
import { ACCOUNT_ID } from './intrinsics.ts'
import { HOST, urlOf } from './settings.ts'

const withUrl = v.looseObject({ QueueUrl: v.string() })
const withUrls = v.looseObject({ QueueUrls: v.array(v.string()) })

/**
 * Starts the embedded SQS on the loopback address. Queues are in memory.
 *
 * @param region where its queues are, in their ARNs
 */
export const startSqs = async ({ port, region }: { port: number; region: string }) => {
  const app = buildApp({ logger: false, defaultRegion: region })

  // fauxqs knows a queue only by http://sqs.<region>.localhost:<port>/...; as with AWS, what counts here is
  // the path, and the URL handed out is one that every machine can reach.
  const known = `http://sqs.${region}.localhost:${port}`
  const inward = (url: string) => `${known}/${ACCOUNT_ID}/${url.slice(url.lastIndexOf('/') + 1)}`
  const outward = (url: string) => url.replace(known, urlOf(port))

  app.addHook('preHandler', async request => {
    // fauxqs would take the region from here, and not find a queue for a caller of another region.
    request.headers.authorization = undefined
    const body = v.safeParse(withUrl, request.body)
    if (body.success) request.body = { ...body.output, QueueUrl: inward(body.output.QueueUrl) }
  })
  app.addHook('preSerialization', async (_request, _reply, payload) => {
    const one = v.safeParse(withUrl, payload)
    if (one.success) return { ...one.output, QueueUrl: outward(one.output.QueueUrl) }
    const many = v.safeParse(withUrls, payload)
    if (many.success) return { ...many.output, QueueUrls: many.output.QueueUrls.map(outward) }
    return payload
  })

  await app.listen({ host: HOST, port })
  return { close: () => app.close() }
}
