import { existsSync } from 'node:fs'
import { chown, mkdir, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { expect, test } from '@jest/globals'
import { eachWithFolder } from '@order-relay/test-support/folder.ts'
import {
  credentialsIn,
  isServedByOther,
  keptCredentials,
  queueEnvironment,
  readEnvironment,
  saveEnvironment,
} from '../credentials.ts'
import { freePorts, listen } from '../ports.ts'
import { settingsFrom } from '../settings.ts'

const { ports } = settingsFrom({})
const folder = eachWithFolder()

test('credentials are random, and stored in a private file of the data directory', async () => {
  const credentials = await keptCredentials(folder())
  expect(credentials.accessKeyId).toMatch(/^[\da-f]{64}$/)
  expect(await keptCredentials(folder())).not.toEqual(credentials)
  await expect(credentialsIn(folder())()).rejects.toThrow('ENOENT')

  await writeFile(folder('aws.env'), 'AWS_ACCESS_KEY_ID=local\nAWS_SECRET_ACCESS_KEY=local\n', {
    mode: 0o644,
  })
  expect((await keptCredentials(folder())).accessKeyId).toMatch(/^[\da-f]{64}$/)

  const environment = queueEnvironment(ports, credentials)
  await saveEnvironment(folder(), environment)
  expect((await stat(folder('aws.env'))).mode & 0o777).toBe(0o600)
  expect(await readEnvironment(folder())).toEqual(environment)
  expect(await keptCredentials(folder())).toEqual(credentials)
})

test('a file that cannot be opened is not replaced', async () => {
  await mkdir(folder('aws.env'))
  await expect(keptCredentials(folder())).rejects.toThrow('EISDIR')
})

test("another user's program on a port is recognized, where the system knows", async () => {
  const { sqs: port } = await freePorts()
  await saveEnvironment(folder(), {})
  expect(await isServedByOther(folder(), port)).toBe(false)
  const server = createServer()
  await listen(server, port)
  expect(await isServedByOther(folder(), port)).toBe(false)
  if (process.getuid?.() === 0) {
    await chown(folder('aws.env'), 65534, 65534)
    expect(await isServedByOther(folder(), port)).toBe(existsSync('/proc/net/tcp'))
  }
  server.close()
})
