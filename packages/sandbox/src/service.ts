import { HOST } from '@order-relay/web/foreign.ts'
import { listen, stop } from '@order-relay/web/serve.ts'
import type { Clock } from './clock.ts'
import { startSender } from './delivery/sender.ts'
import { createFaults } from './faults.ts'
import { httpServer } from './http/server.ts'
import { openStore } from './store/open.ts'

type ServiceOptions = { port: number; data: string | undefined; speed: number; clock: Clock }

/** Starts the service of `startSandbox`. */
export const startService = async ({ port, data, speed, clock }: ServiceOptions) => {
  const store = openStore(data, clock)
  const stopping = new AbortController()
  const sender = startSender(store, speed)
  const faults = createFaults(store.changes)
  const server = httpServer({ store, sender, faults, stopping: stopping.signal })
  try {
    const bound = await listen(server, port, 'SANDBOX_PORT')
    let closing: Promise<void> | undefined
    const close = async () => {
      stopping.abort()
      faults.stop()
      await Promise.all([stop(server), sender.stop()])
      store.close()
    }
    return {
      url: `http://${HOST}:${bound}`,
      close: () => {
        closing ??= close()
        return closing
      },
    }
  } catch (error) {
    await sender.stop()
    store.close()
    throw error
  }
}
