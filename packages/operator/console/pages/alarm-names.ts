import type { AlarmCode } from '@order-relay/deploy/alarms.ts'
import type { RouteData } from './api.ts'
import { t } from './persian.ts'

const NAMES: Readonly<Record<AlarmCode, string>> = {
  'dead-letters': t('Dead letters'),
  quarantine: t('Quarantine'),
  'quarantined-by-webhook': t('Webhook quarantined'),
  'quarantined-by-worker': t('Event quarantined'),
  'queue-age': t('Old messages in the order queue'),
  'bulk-queue-age': t('Old messages in the bulk queue'),
  'order-stuck': t('An order keeps failing'),
  'webhook-errors': t('Errors of the webhook function'),
  'webhook-throttles': t('Webhook function throttled'),
  'api-errors': t("Errors of the stores' API"),
  'api-throttles': t("Stores' API throttled"),
  'endpoint-latency': t('Slow endpoints'),
  'requests-throttled': t('Requests above the limit'),
  'store-throttled': t('A store above its limit'),
  'deliveries-failed': t('Webhooks answered with 503'),
  'requests-failed': t('Requests answered with 503'),
  'signature-failures': t('Webhooks with invalid signatures'),
  'service-unauthorized': t('API key refused'),
  'breaker-open': t('Accounting service unavailable'),
  'history-throttled': t('History throttled'),
  'worker-errors': t('Errors of the worker'),
  'worker-throttles': t('Worker throttled'),
  'reconcile-errors': t('The scheduled check fails'),
  'reconcile-missing': t('The scheduled check does not run'),
  'probe-missing': t('No probe gets through'),
  'checks-late': t('Scheduled checks are late'),
  'feeder-errors': t('Errors of the feeder'),
  'feeder-throttles': t('Feeder throttled'),
  'feed-disabled': t('HTTP feed disabled'),
  'feed-stuck': t('A store refuses a message'),
  'feed-dead-letters': t('Dead letters of feeds'),
  'feed-dead-lettered': t('Message of a feed dead-lettered'),
  'store-feed-age': t('Messages not received'),
  'store-dead-letters': t('Dead letters of the store'),
  'store-feed-undeleted': t('Messages received but not deleted'),
  'table-throttles': t('Table throttled'),
  'new-version': t('New version rolled back'),
}

/** The display name of an alarm, followed by its store if any. */
export const nameOfAlarm = ({ code, store }: RouteData<'overview'>['alarms'][number]) =>
  store === undefined ? NAMES[code] : t('{name}: {store}', { name: NAMES[code], store })
