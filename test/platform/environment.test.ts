import { afterEach, expect, test } from '@jest/globals'
import { readSettings, type Settings, unixSeconds, VARIABLES } from '../../lib/platform/environment.ts'
import { feedQueueName, siblingQueueUrl } from '../../lib/platform/names.ts'

const environment = { ...process.env }
afterEach(() => {
  process.env = { ...environment }
})

test.each(Object.keys(VARIABLES) as (keyof Settings)[])(
  'the setting %s requires the environment variable of the same name',
  name => {
    const variable = name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()
    for (const missing of [{}, { [variable]: '' }]) {
      process.env = missing
      expect(() => readSettings(name)).toThrow(
        `Cannot start: the environment variable ${variable} is not set`,
      )
    }
    process.env = { [variable]: 'value' }
    expect(readSettings(name)).toEqual({ [name]: 'value' })
  },
)

test('returns Unix time in whole seconds', () => {
  expect(unixSeconds(1999)).toBe(1)
})

test('the URL of a feed queue has the account, region and prefix of the order queue', () => {
  const stack = 'https://sqs.eu-central-1.amazonaws.com/123456789012/order-relay-production-'
  expect(siblingQueueUrl(`${stack}orders.fifo`, feedQueueName('shop'))).toBe(`${stack}feed-shop.fifo`)
  expect(() => siblingQueueUrl('https://sqs/quarantine', 'feed-shop.fifo')).toThrow(
    'Cannot derive a queue URL: "https://sqs/quarantine" does not end with "orders.fifo"',
  )
})
