import { CHECKS } from '../cli/doctor/checks.ts'
import { diagnose } from '../cli/doctor/doctor.ts'
import { get } from './route.ts'

/** What `relay doctor` finds. */
export const setupRoutes = [
  get('setup', {}, async function* (_, { context }) {
    const all = Object.keys(CHECKS).length
    let done = 0
    yield { done, all, findings: [] }
    for await (const findings of diagnose(context)) yield { done: ++done, all, findings }
  }),
]
