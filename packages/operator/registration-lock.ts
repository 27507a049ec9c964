import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import { expiryOf, untilText } from '@order-relay/lib/platform/parameters.ts'
import type { RotationPhase } from '@order-relay/lib/webhook/secrets.ts'
import type { Context } from './core/context.ts'
import { cannot } from './core/errors.ts'
import { nowSeconds } from './core/webhook.ts'

/** `registering` announces nothing to the webhook function. */
type Phase = RotationPhase | 'registering'

/**
 * Lets one command at a time have the service create a webhook secret. The service signs only with the last one, so a
 * second command would replace the secret of the first unnoticed. The lock is the parameter that announces a rotation to the
 * webhook function, written on condition that no other command has written it. It expires in case this command is killed.
 *
 * @param action such as `rotate the webhook secret`
 * @param seconds how long the first phase may take
 * @throws Failure while another command holds the lock
 */
export const lockRegistration = async (
  { parameters }: Pick<Context, 'parameters'>,
  action: string,
  phase: Phase,
  seconds: number,
) => {
  const name = PARAMETERS.webhookRotation
  const busy = (until: number) => {
    const ends = new Date(until * 1000).toISOString()
    return cannot(
      action,
      'another command is registering the webhook or replacing its secret',
      `wait for it to finish; if it was killed, run this command again after ${ends}`,
    )
  }
  const write = async (value: Phase, duration: number, replaced?: number) => {
    const until = nowSeconds() + duration
    const version = await parameters.putFirst(name, untilText(value, until), replaced)
    if (version === undefined) throw busy(until)
    return version
  }
  const found = await parameters.find(name)
  const until = expiryOf(found?.value ?? '')
  if (until > nowSeconds()) throw busy(until)
  let version: number | undefined = await write(phase, seconds, found?.version)
  return {
    /** @throws Failure if another command has taken the lock because this one exceeded its time */
    async next(following: Phase, duration: number): Promise<void> {
      const held = version
      version = undefined
      version = await write(following, duration, held)
    },
    async release(): Promise<void> {
      if (version !== undefined) await parameters.remove(name)
    },
  }
}
