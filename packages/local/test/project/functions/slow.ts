import { setTimeout as sleep } from 'node:timers/promises'

// Longer than its timeout.
await sleep(1500)

export { handler } from './endpoint.ts'
