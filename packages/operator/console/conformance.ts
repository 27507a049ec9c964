import * as v from 'valibot'
import { notJudged, testStore } from '../conformance/conformance.ts'
import type { Context } from '../core/context.ts'
import type { Finding } from '../core/findings.ts'
import { createJobs } from './jobs.ts'
import type { Live } from './live.ts'
import { get, post } from './route.ts'

const source = v.string()

/** Tests of stores, as in `relay conformance`; only the command starts and kills a store. */
export const conformanceRoutes = (context: Context, live: Live) => {
  const jobs = createJobs(context, live, 'conformance')
  const reports = new Map<string, Finding[]>()
  return [
    get('conformance', { source }, async ({ source }) => {
      const findings = reports.get(source) ?? []
      return {
        local: context.local,
        job: jobs.of(source),
        findings,
        notJudged: notJudged(findings, undefined),
      }
    }),
    post(
      'conformance/start',
      {
        source,
        handled: v.optional(v.string()),
        testStore: v.boolean(),
        wait: v.pipe(v.number(), v.integer(), v.minValue(1)),
      },
      async ({ source, ...options }) => {
        const findings: Finding[] = []
        const onFinding = (finding: Finding) => void findings.push(finding)
        jobs.start(source, `test the store "${source}"`, async (context, signal) => {
          await testStore(context, source, options, { signal, onFinding })
          return undefined
        })
        reports.set(source, findings)
      },
    ),
    post('conformance/stop', { source }, async ({ source }) => jobs.stop(source)),
  ]
}
