import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import * as v from 'valibot'
import { HOST } from '../../local/settings.ts'
import type { Request } from './request.ts'

const TIMEOUT_MS = 10_000

const said = v.union([
  v.pipe(
    v.object({ status: v.string() }),
    v.transform(({ status }) => status),
  ),
  v.pipe(
    v.object({ error: v.object({ code: v.string() }) }),
    v.transform(({ error }) => error.code),
  ),
])
const answer = v.pipe(v.string(), v.parseJson(), said)

/** Posts to one receiver after the other and resolves with the answer in short, such as `200 queued`. */
export const poster = (ports: readonly number[], connections: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let turn = 0
  return ({ headers, body }: Request): Promise<string> =>
    new Promise((resolve, reject) => {
      const port = ports[turn++ % ports.length]
      const sent = request(
        { host: HOST, port, path: '/webhook', method: 'POST', headers, agent, timeout: TIMEOUT_MS },
        (response: IncomingMessage) => {
          text(response).then(words => {
            const read = v.safeParse(answer, words)
            resolve(`${response.statusCode} ${read.success ? read.output : 'unreadable answer'}`)
          }, reject)
        },
      )
      sent.on('timeout', () => sent.destroy(new Error('no answer in time')))
      sent.on('error', reject)
      sent.end(body)
    })
}
