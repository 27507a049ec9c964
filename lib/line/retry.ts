import type { SQSRecord } from 'aws-lambda'
import { AccountingError } from '../accounting/errors.ts'
import { telemetry } from '../telemetry.ts'
import { backoffSeconds } from './backoff.ts'
import type { KeepBack } from './keep-back.ts'

/** Lets a failed message wait before it comes again, and with it what waits behind it (promise P8). */
export const waitBeforeRetry =
  (keepBack: KeepBack, random: () => number = Math.random, now: () => number = Date.now) =>
  async (error: unknown, first: SQSRecord, behind: readonly SQSRecord[]): Promise<void> => {
    const receives = Number(first.attributes.ApproximateReceiveCount)
    const service = error instanceof AccountingError ? error : undefined
    const seconds = backoffSeconds(receives, random(), service?.retryAfter)
    // The service's own words may name a customer, and are for the store, not for the log (P11).
    const logged =
      service?.status === undefined ? error : new Error(`The accounting service answered ${service.status}`)
    telemetry.error('message waits', logged, {
      messageId: first.messageId,
      receives,
      seconds,
      behind: behind.length,
    })
    telemetry.count(service?.code === 'unauthorized' ? 'ServiceUnauthorized' : 'Retried')
    // SQS leaves out of its own age of the oldest message what was received three times in vain.
    telemetry.seconds('FailingAge', (now() - Number(first.attributes.SentTimestamp)) / 1000)
    await keepBack([first, ...behind], seconds)
  }
