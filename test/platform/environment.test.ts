import { afterEach, describe, expect, test } from '@jest/globals'
import { readSettings, unixSeconds } from '../../lib/platform/environment.ts'
import { feedQueueName, siblingQueueUrl } from '../../lib/platform/names.ts'

const environment = { ...process.env }
afterEach(() => {
  process.env = { ...environment }
})

test.each([
  ['ordersTable', 'ORDERS_TABLE'],
  ['deliveriesTable', 'DELIVERIES_TABLE'],
  ['ordersQueueUrl', 'ORDERS_QUEUE_URL'],
  ['quarantineQueueUrl', 'QUARANTINE_QUEUE_URL'],
  ['feedsDeadQueueUrl', 'FEEDS_DEAD_QUEUE_URL'],
  ['secretsPath', 'SECRETS_PATH'],
  ['accountingUrl', 'ACCOUNTING_URL'],
  ['refusedRetryDays', 'REFUSED_RETRY_DAYS'],
  ['accountingTimeZone', 'ACCOUNTING_TIME_ZONE'],
  ['waitSeconds', 'WAIT_SECONDS'],
  ['feedAddresses', 'FEED_ADDRESSES'],
] as const)('the setting %s is the environment variable %s, which is required', (name, variable) => {
  for (const missing of [undefined, '']) {
    if (missing === undefined) delete process.env[variable]
    else process.env[variable] = missing
    expect(() => readSettings(name)).toThrow(`Cannot start: the environment variable ${variable} is not set`)
  }
  process.env[variable] = 'value'
  expect(readSettings(name)).toEqual({ [name]: 'value' })
})

test('unix time is in whole seconds', () => {
  expect(unixSeconds(1999)).toBe(1)
})

describe('the queue of a feed', () => {
  test('has the account, region and prefix of the order queue', () => {
    const orders = 'https://sqs.eu-central-1.amazonaws.com/123456789012/order-relay-production-orders.fifo'
    expect(siblingQueueUrl(orders, feedQueueName('shop'))).toBe(
      'https://sqs.eu-central-1.amazonaws.com/123456789012/order-relay-production-feed-shop.fifo',
    )
  })

  test('cannot be derived from any other queue', () => {
    expect(() => siblingQueueUrl('https://sqs/quarantine', 'feed-shop.fifo')).toThrow(
      'Cannot derive a queue URL: "https://sqs/quarantine" does not end with "orders.fifo"',
    )
  })
})
