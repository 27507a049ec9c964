import { expect, test } from '@jest/globals'
import { logLineOf } from '../../cli/core/log.ts'
import { ROOT, readService } from '../../cli/core/stack.ts'
import { toSource } from '../../cli/tail.ts'
import { bundle } from '../../deploy/package.ts'

const at = '2026-03-21T09:30:00.123Z'

// As Lambda writes them with the log format JSON.
test.each<[string, object, object | undefined]>([
  [
    'a time-out',
    {
      time: at,
      type: 'platform.report',
      record: { requestId: 'r', status: 'timeout', metrics: { durationMs: 9000 } },
    },
    {
      level: 'ERROR',
      message: 'invocation ended with timeout',
      fields: { requestId: 'r', metrics: { durationMs: 9000 } },
    },
  ],
  [
    'a failed start',
    { time: at, type: 'platform.initReport', record: { status: 'error', errorType: 'Runtime.ExitError' } },
    {
      level: 'ERROR',
      message: 'start of the function ended with error',
      fields: { errorType: 'Runtime.ExitError' },
    },
  ],
  [
    'an error that a function threw',
    {
      ...{ timestamp: at, level: 'ERROR', requestId: 'r' },
      message: {
        errorType: 'TypeError',
        errorMessage: 'x is not a function',
        stackTrace: ['TypeError', 'at y'],
      },
    },
    {
      level: 'ERROR',
      message: 'function failed',
      fields: { requestId: 'r', error: { name: 'TypeError', message: 'x is not a function' } },
    },
  ],
  [
    'a line of a function',
    { timestamp: at, level: 'INFO', message: 'event processed', source: 'api' },
    { level: 'INFO', message: 'event processed', fields: { source: 'api' } },
  ],
  [
    'an invocation that succeeded',
    { time: at, type: 'platform.report', record: { status: 'success' } },
    undefined,
  ],
  ['metrics', { _aws: { Timestamp: 1 }, Deliveries: 1 }, undefined],
])('%s', (_name, line, expected) => {
  const read = logLineOf(`${JSON.stringify(line)}\n`, 'webhook')
  if (expected === undefined) expect(read).toBeUndefined()
  else expect(read).toMatchObject({ at: new Date(at), from: 'webhook', ...expected })
})

test("a stack of a deployed bundle is shown in terms of this checkout's source", async () => {
  const { code } = await bundle(ROOT, readService().custom.esbuild, 'functions/webhook')
  const lines = Buffer.from(code).toString().split('\n')
  const row = lines.findIndex(line => line.includes('delivery failed'))
  const column = lines[row]?.indexOf('"delivery failed"') ?? -1
  const frame = `    at f (file:///var/task/functions/webhook.mjs:${row + 1}:${column + 1})`
  expect(await toSource(`Error: x\n${frame}`)).toMatch(
    /^Error: x\n {4}at f \(lib\/webhook\/handler\.ts:\d+:\d+\)$/,
  )
})
