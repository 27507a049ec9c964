import type { ServerResponse } from 'node:http'
import type { Changes } from '../store/changes.ts'

/** Proxies and browsers give up a stream on which nothing comes. */
const HEARTBEAT_MS = 15_000

/** Writes every change to a page that listens, until it leaves or the sandbox stops. */
export const eventStream = (response: ServerResponse, changes: Changes, stopping: AbortSignal): void => {
  response.write(': listening\n\n')
  const deaf = changes.listen(change => {
    response.write(`event: change\ndata: ${JSON.stringify(change)}\n\n`)
  })
  const heartbeat = setInterval(() => response.write(': still here\n\n'), HEARTBEAT_MS)
  const end = () => {
    response.end()
  }
  stopping.addEventListener('abort', end)
  response.on('close', () => {
    stopping.removeEventListener('abort', end)
    deaf()
    clearInterval(heartbeat)
  })
}
