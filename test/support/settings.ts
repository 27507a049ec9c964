import type { Settings } from '../../lib/platform/environment.ts'
import { feedQueueName, PROBE_SOURCE, QUEUES, TABLES } from '../../lib/platform/names.ts'

/**
 * The settings of the functions, with the resource names of a stack without a prefix.
 *
 * @param changes settings that replace the defaults
 */
export const settingsWith = (queueUrl: (name: string) => string, changes: Partial<Settings>): Settings => ({
  ordersTable: TABLES.orders,
  deliveriesTable: TABLES.deliveries,
  historyTable: TABLES.history,
  registrationsTable: TABLES.registrations,
  ordersQueueUrl: queueUrl(QUEUES.orders),
  quarantineQueueUrl: queueUrl(QUEUES.quarantine),
  feedsDeadQueueUrl: queueUrl(QUEUES.feedsDead),
  secretsPath: '/order-relay/test',
  accountingUrl: 'https://accounting.example/base',
  accountingTimeZone: 'Asia/Tehran',
  waitSeconds: '3',
  storeRequestsPerSecond: '0',
  refusedRetryDays: '7',
  deleteOrdersAfterDays: '0',
  feedVersionsFrom: '0',
  feedAddresses: 'public',
  feedAttempts: 'all',
  probeQueueUrl: queueUrl(feedQueueName(PROBE_SOURCE)),
  webhookUrl: 'https://relay.example/webhook',
  checksPerSecond: '1000',
  ...changes,
})
