import type { DoctorCode } from '../../doctor/messages.ts'
import { t } from './persian.ts'

/** What is wrong, by what a check found, or by the check, whose own text says what is right. */
const PROBLEMS: Partial<Record<DoctorCode, string>> = {
  'remembers-retries': t('Deliveries are forgotten while the sender still retries them'),
  'remembers-replays': t('Deliveries are forgotten while dead letters can still be replayed'),
  'stays-invisible': t('Messages can become visible while the worker still processes them'),
  'receiver-responds': t('The sender may give up before the receiver responds'),
  'dead-before-expiry': t('Failing messages expire before they become dead letters'),
  'webhook-registered': t('The webhook is not registered'),
  'secret-accepted': t('The relay does not accept webhooks signed with its secret'),
  'one-secret': t('Several secrets are in use'),
  'no-other-secret': t('Secrets of other URLs are accepted'),
  'key-accepted': t('The accounting service does not accept the API key'),
  'service-unavailable': t('The accounting service is unavailable'),
  'no-key': t('No API key is stored'),
  'clocks-agree': t('The clocks of the service and the relay may differ'),
  'queue-processed': t('Events wait in the order queue'),
  'no-imports': t('Orders are being imported'),
  'dead-letters': t('There are dead letters'),
  quarantine: t('There are messages in quarantine'),
  index: t('The index of keys and secrets is outdated'),
  'alarms-reach': t('Alarms have no recipient'),
  concurrency: t("The account's Lambda concurrency is too low"),
}

type Text = string | { code: string }

const problemOf = (text: Text) => (typeof text === 'string' ? undefined : Reflect.get(PROBLEMS, text.code))

/** The title of a finding that is not in order; undefined if its check names only a subject. */
export const problemTitle = (check: Text, found: Text): string | undefined =>
  problemOf(found) ?? problemOf(check)
