import { expect, test } from '@jest/globals'
import { readable } from '../log.ts'

const check = (checked: number) =>
  JSON.stringify({ level: 'INFO', message: 'scheduled check of orders', service: 'relay', checked })

test('npm start prints a scheduled check only if there was an order to check', () => {
  expect(readable(check(2))).toBe('scheduled check of orders checked=2')
  expect(readable(check(0))).toBeUndefined()
})
