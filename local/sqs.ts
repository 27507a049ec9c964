import { buildApp } from 'fauxqs'
import * as v from 'valibot'
import { ACCOUNT_ID } from './intrinsics.ts'
import { journalCalls } from './journal-calls.ts'
import { openJournal } from './queue-journal.ts'
import { HOST, urlOf } from './settings.ts'

const withUrl = v.looseObject({ QueueUrl: v.string() })
const withUrls = v.looseObject({ QueueUrls: v.array(v.string()) })

const JOURNALLED = /^AmazonSQS\.((?:Send|Delete)Message(?:Batch)?|ReceiveMessage|PurgeQueue)$/

export type SqsOptions = {
  port: number
  /** Where its queues are, in their ARNs. */
  region: string
  /** The file in which messages outlive the process. @default none: they end with it */
  path?: string
}

/** Starts the embedded SQS on the loopback address. */
export const startSqs = async ({ port, region, path }: SqsOptions) => {
  const app = buildApp({ logger: false, defaultRegion: region })
  const journal = path === undefined ? undefined : openJournal(path)
  const noteCall = journal && journalCalls(journal)

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
  app.addHook('preSerialization', async (request, reply, payload) => {
    const [, action] = JOURNALLED.exec(String(request.headers['x-amz-target'])) ?? []
    if (action !== undefined && reply.statusCode === 200) noteCall?.(action, request.body, payload)
    const one = v.safeParse(withUrl, payload)
    if (one.success) return { ...one.output, QueueUrl: outward(one.output.QueueUrl) }
    const many = v.safeParse(withUrls, payload)
    if (many.success) return { ...many.output, QueueUrls: many.output.QueueUrls.map(outward) }
    return payload
  })
  app.addHook('onClose', async () => journal?.close())

  await app.listen({ host: HOST, port })
  return {
    /** Sends what an earlier process left once more; messages whose queue is no more are dropped. */
    restore: async () => {
      for (const { queue, message } of journal?.kept ?? []) {
        await app.inject({
          method: 'POST',
          url: '/',
          headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.SendMessage' },
          payload: JSON.stringify({ ...message, QueueUrl: queue }),
        })
      }
      journal?.commit()
    },
    close: () => app.close(),
  }
}
