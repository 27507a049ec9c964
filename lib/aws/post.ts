import type { Agent, IncomingMessage } from 'node:http'

type Answered = { status: number; text: string }

/** Sends one POST to an endpoint and reads the whole answer. */
export type Post = (headers: Readonly<Record<string, string>>, body: string) => Promise<Answered>

/**
 * Opens no connection yet; those it opens are kept and reused.
 *
 * @param timeout how long one POST may take, connection and answer included, in milliseconds
 */
export const poster = (endpoint: URL, timeout: number): Post => {
  // Not imported: to import node:http as an ES module reads all its exports, and with `WebSocket` it loads all
  // of undici, which takes longer than everything else at a cold start.
  const { request, Agent } = process.getBuiltinModule(
    endpoint.protocol === 'https:' ? 'node:https' : 'node:http',
  )
  const agent: Agent = new Agent({ keepAlive: true })

  return (headers, body) =>
    new Promise((resolve, reject) => {
      const sent = request(endpoint, { method: 'POST', headers, agent }, (response: IncomingMessage) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.on('end', () => {
          clearTimeout(timer)
          resolve({ status: response.statusCode ?? 0, text })
        })
        response.on('error', reject)
      })
      const timer = setTimeout(() => {
        reject(new Error(`no answer within ${timeout} ms`))
        sent.destroy()
      }, timeout)
      sent.on('error', error => {
        clearTimeout(timer)
        reject(error)
      })
      sent.end(body)
    })
}
