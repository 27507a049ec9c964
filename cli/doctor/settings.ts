import * as v from 'valibot'
import { DELIVERY_TTL_SECONDS } from '../../lib/webhook/deliveries.ts'
import type { Place } from '../place/place.ts'
import { depth } from '../queues/browse.ts'
import type { Finding } from './finding.ts'
import { windowFindings } from './windows.ts'

const redrive = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ maxReceiveCount: v.pipe(v.unknown(), v.transform(Number)) }),
)

/** Reads the settings of what is deployed, and compares them. */
export const settings = async (place: Place): Promise<Finding[]> => {
  const { names } = place
  const [{ attributes: line }, { attributes: dead }, { functions }] = await Promise.all([
    depth(place, names.line),
    depth(place, names.dead),
    place.deployment(),
  ])
  const policy = v.safeParse(redrive, line.RedrivePolicy)
  return windowFindings({
    memory: DELIVERY_TTL_SECONDS,
    deadRetention: Number(dead.MessageRetentionPeriod),
    lineRetention: Number(line.MessageRetentionPeriod),
    lineVisibility: Number(line.VisibilityTimeout),
    maxReceives: policy.success ? policy.output.maxReceiveCount : undefined,
    webhookTimeout: functions.webhook?.timeout ?? 0,
    workerTimeout: functions.worker?.timeout ?? 0,
  })
}
