// The accounting service's side: signs and posts all that the plan holds, over connections that it keeps, and
// comes again when it is told to.

import { setTimeout as sleep } from 'node:timers/promises'
import { SQSClient } from '@aws-sdk/client-sqs'
import { ACCOUNT_ID, urlOf } from '../../../local/settings.ts'
import { waitingIn } from '../depth.ts'
import { drawer, type Job } from '../draw.ts'
import { tell, tellMemory } from '../news.ts'
import { poster } from '../post.ts'
import { signedRequest } from '../request.ts'
import { fromEnvironment } from '../settings.ts'

const TRIES = 20

const { plan, receivers, secret, lanes, backlog, ports, region } = fromEnvironment()
const draw = drawer(plan, Date.now)
const post = poster(receivers, lanes)
const credentials = { accessKeyId: 'sender', secretAccessKey: 'local' }
const sqs = new SQSClient({ region, credentials, endpoint: urlOf(ports.sqs) })
const line = `${urlOf(ports.sqs)}/${ACCOUNT_ID}/order-line.fifo`

const answers: Record<string, number> = {}
let sent = 0
let unavailable = 0
let done = false
let rest: Promise<void> = Promise.resolve()

const send = async (job: Job): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    const answer = await post(signedRequest(job, secret, Math.floor(Date.now() / 1000))).catch(String)
    if (/^\d/.test(answer) && !answer.startsWith('5')) {
      const name = `${job.kind}: ${answer}`
      answers[name] = (answers[name] ?? 0) + 1
      sent++
      return
    }
    unavailable++
    if (attempt === TRIES) throw new Error(`Cannot send a ${job.kind}: the relay says ${answer}`)
    await sleep(100 * attempt)
  }
}

const lane = async () => {
  for (let job = draw(); job !== undefined; job = draw()) {
    await (job.kind === 'twin' ? Promise.all([send(job), send(job)]) : send(job))
    job.answered()
    await rest
  }
}

/** Looks at the order line time and again, and lets the lanes rest while too much waits there. */
const watchLine = async () => {
  while (!done) {
    const waiting = waitingIn(sqs, line, AbortSignal.timeout(5000)).catch(() => 0)
    if ((await waiting) > backlog) {
      const { promise, resolve } = Promise.withResolvers<void>()
      rest = promise
      while ((await waitingIn(sqs, line).catch(() => 0)) > backlog / 2) await sleep(20)
      resolve()
    }
    await sleep(50)
  }
}

tellMemory()
setInterval(() => tell({ sent }), 250).unref()
// Ctrl-C reaches the whole group; the program that started it decides when what ends.
process.on('SIGINT', () => undefined)
const watching = watchLine()
await Promise.all(Array.from({ length: lanes }, lane))
done = true
await watching
tell({ sent, answers, unavailable })
process.exit()
