import { expect, test } from '@jest/globals'
import { startChild } from '../child.ts'

test('detects that a child has ended while a process that it started keeps its output open', async () => {
  const script = `
    const { spawn } = require('node:child_process')
    const { pid } = spawn(process.execPath, ['--eval', 'setTimeout(() => undefined, 60_000)'], { stdio: 'inherit' })
    console.log(pid)
    process.exit(3)`
  const survivor = Promise.withResolvers<number>()
  const child = startChild({
    name: 'child',
    args: ['--eval', script],
    cwd: '.',
    environment: {},
    onLine: line => survivor.resolve(Number(line)),
  })
  expect(await child.ended).toBe('ended with exit code 3')
  process.kill(await survivor.promise)
})
