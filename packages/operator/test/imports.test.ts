import { expect, test } from '@jest/globals'
import { durationText } from '../imports.ts'

test.each([
  [6, '6 s'],
  [119, '119 s'],
  [120, '2 min'],
  [3601, '1 h 1 min'],
])('shows %i seconds until the completion of an import as "%s"', (seconds, text) => {
  expect(durationText(seconds)).toBe(text)
})
