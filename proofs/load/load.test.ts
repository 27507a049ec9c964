import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { loadTable } from './load.ts'

test('docs/performance.md shows what each limit needs', () => {
  expect(readFileSync('docs/performance.md', 'utf8')).toContain(loadTable())
})
