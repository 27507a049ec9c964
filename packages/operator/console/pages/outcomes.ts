import { translateMessage } from '@order-relay/web/messages.ts'
import type { Tone } from '@order-relay/web/pieces.tsx'
import { t } from './persian.ts'

/** The outcomes of received webhooks. */
export const OUTCOMES: Readonly<Record<string, readonly [name: string, tone: Tone]>> = {
  queued: [t('queued'), 'good'],
  duplicate: [t('duplicate'), 'undone'],
  ignored: [t('ignored'), 'undone'],
  refused: [t('refused'), 'wait'],
  quarantined: [t('quarantined'), 'bad'],
  failed: [t('failed'), 'bad'],
}

/** Why a webhook was ignored or not stored. */
const REASONS: Readonly<Record<string, string>> = {
  'foreign source': t('of an unknown store'),
  'other event': t('an event other than order.updated'),
  'delivery failed': t('could not be stored; the service sends it again'),
  'delivery deferred': t('could not be stored; the service sends it again'),
}

export const reasonText = (why: string) => REASONS[why] ?? translateMessage(why)

/** An outcome with its reason, such as "refused: the body is too large". */
export const outcomeText = (name: string) => {
  const [outcome = '', why] = name.split(': ')
  const text = OUTCOMES[outcome]?.[0] ?? outcome
  return why === undefined ? text : `${text}: ${reasonText(why)}`
}

/** Failed calls to the service and its refusals, by code. */
export const CODES: Readonly<Record<string, string>> = {
  unknown_sku: t('unknown product'),
  no_customer: t('no customer'),
  invalid: t('invalid request'),
  malformed: t('invalid request'),
  conflict: t('not possible in this state'),
  not_found: t('order unknown'),
  unavailable: t('service unavailable'),
  failed: t('unusable response of the service'),
  throttled: t('too many requests'),
  unauthorized: t('API key not accepted'),
  forbidden: t('API key not accepted'),
}
