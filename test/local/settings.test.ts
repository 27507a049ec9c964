import { once } from 'node:events'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { expect, test } from '@jest/globals'
import { assertFree, freePorts } from '../../local/ports.ts'
import { environmentOf, settingsFrom } from '../../local/settings.ts'

test('the defaults are those of the README', () => {
  expect(settingsFrom({})).toEqual({
    ports: { relay: 3000, lambda: 3002, sandbox: 4000, dynamodb: 8000, sqs: 9324, ssm: 9325 },
    dataDir: resolve('.order-relay'),
    watch: true,
  })
})

test('a child process reads the same settings from its environment', () => {
  const settings = {
    ports: { relay: 1, lambda: 2, sandbox: 3, dynamodb: 4, sqs: 5, ssm: 65535 },
    dataDir: resolve('/tmp/some where'),
    watch: false,
  }
  expect(settingsFrom(environmentOf(settings))).toEqual(settings)
})

test.each(['abc', '0', '-1', '65536', '80.5', '1e3', ' '])('"%s" is not a port', text => {
  expect(() => settingsFrom({ SQS_PORT: text })).toThrow(
    `Cannot start: SQS_PORT is "${text}"; set it to a port number from 1 to 65535`,
  )
})

test('equal ports are refused, and both variables named', () => {
  expect(() => settingsFrom({ SQS_PORT: '8000' })).toThrow(/DYNAMODB_PORT and SQS_PORT are both 8000/)
})

test('free ports are free, and a taken port is named with its variable', async () => {
  const ports = await freePorts()
  expect(new Set(Object.values(ports)).size).toBe(6)
  await assertFree(ports)

  const squatter = createServer()
  squatter.listen({ host: '127.0.0.1', port: ports.ssm })
  await once(squatter, 'listening')
  try {
    await expect(assertFree(ports)).rejects.toThrow(
      `Cannot start: port ${ports.ssm} is taken; set SSM_PORT to a free port, or stop the process that uses it`,
    )
    await assertFree(ports, ['relay', 'sandbox'])
  } finally {
    squatter.close()
  }
})
