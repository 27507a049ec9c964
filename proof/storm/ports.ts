import { once } from 'node:events'
import { createServer } from 'node:net'
import { HOST } from '../../local/settings.ts'

/** Below those that systems hand out by themselves, so that none is taken between its finding and its use. */
const FIRST = 10_000
const COUNT = 20_000

let next = Math.floor(Math.random() * COUNT)

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer()
  const listening = once(server, 'listening')
  server.listen({ host: HOST, port })
  return listening.then(
    async () => {
      server.close()
      await once(server, 'close')
      return true
    },
    () => false,
  )
}

/** A port that is free, and that this process has not given away before. */
export const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + (next++ % COUNT)
    if (await isFree(port)) return port
  }
  throw new Error(`Cannot find a free port: all from ${FIRST} to ${FIRST + COUNT} are taken`)
}
