import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { call, eachWithSandbox, type Json } from './world.ts'

const sandbox = eachWithSandbox()

/** The commands of the README as requests: method, path and body. */
const commands = [...readFileSync('sandbox/README.md', 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)]
  .flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n'))
  .filter(line => line.startsWith('curl '))
  .map(line => ({
    path: /http:\/\/127\.0\.0\.1:4000(\S+)/.exec(line)?.[1] ?? '',
    method: /-X (\w+)/.exec(line)?.[1] ?? 'POST',
    body: /-d '([^']*)'/.exec(line)?.[1],
    key: /Bearer ([\w-]+)/.exec(line)?.[1] ?? null,
  }))

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
