import { expect, test } from '@jest/globals'
import { curlCommands } from '../support/documents.ts'
import { call, eachWithSandbox, type Json } from './world.ts'

const sandbox = eachWithSandbox()

const commands = curlCommands('sandbox/README.md', 'http://127.0.0.1:4000')

test('the commands of the README work in order', async () => {
  const { url } = sandbox()
  const answers: Json[] = []
  for (const { path, ...options } of commands) {
    const { status, body } = await call(url + path, options)
    expect(status).toBeLessThan(300)
    answers.push(body)
  }
  expect(answers).toMatchObject([{ status: 'needs_review' }, { sku: 'SKU-3', stock: 5 }, { status: 'paid' }])
})
