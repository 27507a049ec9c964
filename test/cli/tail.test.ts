import { expect, test } from '@jest/globals'
import { toSource } from '../../cli/tail.ts'
import { bundle } from '../../deploy/bundle.ts'

test("a stack of a deployed bundle is shown in terms of this checkout's source", async () => {
  const { code } = await bundle('functions/webhook')
  const lines = Buffer.from(code).toString().split('\n')
  const row = lines.findIndex(line => line.includes('delivery failed'))
  const column = lines[row]?.indexOf('"delivery failed"') ?? -1
  const frame = `    at f (file:///var/task/functions/webhook.mjs:${row + 1}:${column + 1})`
  expect(await toSource(`Error: x\n${frame}`)).toMatch(
    /^Error: x\n {4}at f \(lib\/webhook\/handler\.ts:\d+:\d+\)$/,
  )
})
