import { expect, test } from '@jest/globals'
import { foreignFiles } from './zips.ts'

test('a zip with the code of another function is found', () => {
  const listing = (...files: string[]) =>
    ['File Name   Modified   Size', ...files.map(file => `${file}   2026-01-01 00:00:00   1`)].join('\n')
  expect(foreignFiles('webhook', listing('functions/webhook.mjs'))).toEqual([])
  expect(foreignFiles('webhook', listing('functions/webhook.mjs', 'functions/worker.mjs'))).toHaveLength(1)
  expect(foreignFiles('webhook', listing('functions/worker.mjs'))).toHaveLength(1)
})
