import { randomBytes } from 'node:crypto'
import { announcementName, isAnnouncement, type Phase } from '../../lib/webhook/rotation.ts'
import type { Parameters } from '../place/parameters.ts'
import { nowSeconds } from './post.ts'
import { WEBHOOK_SECRETS } from './registrations.ts'

/**
 * Tells the receivers of an exchange of the secret.
 *
 * @param seconds after which it no longer counts, should this command be killed
 */
export const announce = (parameters: Parameters, phase: Phase, seconds: number): Promise<void> =>
  parameters.put(
    `${WEBHOOK_SECRETS}/${announcementName(phase, nowSeconds() + seconds)}`,
    randomBytes(32).toString('hex'),
  )

/** Takes all announcements away, those of an interrupted exchange too. */
export const withdraw = async (parameters: Parameters): Promise<void> => {
  for (const { name } of await parameters.below(WEBHOOK_SECRETS)) {
    if (isAnnouncement(name)) await parameters.remove(`${WEBHOOK_SECRETS}/${name}`)
  }
}
