import { afterEach, describe, expect, test } from '@jest/globals'
import { readSettings, unixSeconds } from '../../lib/platform/environment.ts'
import { feedQueueName, siblingQueueUrl } from '../../lib/platform/names.ts'

const environment = { ...process.env }
afterEach(() => {
  process.env = { ...environment }
})

test.each([
  ...([
    'ordersTable',
    'deliveriesTable',
    'historyTable',
    'ordersQueueUrl',
    'quarantineQueueUrl',
    'feedsDeadQueueUrl',
  ] as const),
  ...(['secretsPath', 'accountingUrl', 'refusedRetryDays', 'accountingTimeZone', 'waitSeconds'] as const),
  ...(['feedAddresses', 'feedVersionsFrom'] as const),
])('the setting %s is an environment variable of this name, which is required', name => {
  const variable = name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()
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
