import { expect, test } from '@jest/globals'
import { addDays, exactDate, jalaliOf } from '../calendar.ts'

test('reads every day of forty years in both calendars', () => {
  for (let day = '1990-01-01'; day < '2030-01-01'; day = addDays(day, 1)) {
    const jalali = jalaliOf(day).join('/')
    expect([day, exactDate(jalali), exactDate(day)]).toEqual([day, day, day])
  }
})

test.each([
  ['1403/12/30', '2025-03-20'],
  ['1405/1/1', '2026-03-21'],
  [' ۱۴۰۵/۰۲/۰۳ ', '2026-04-23'],
  ['١٤٠٥-٢-٣', '2026-04-23'],
  ['1405-09-05', '2026-11-26'],
  ['1405.9.5', '2026-11-26'],
  ['۱۴۰۵.۰۹.۰۵', '2026-11-26'],
  ['\u200f۱۴۰۵ / ۹ / ۵', '2026-11-26'],
  ['1699/12/29', '2321-03-20'],
  ['2024-02-29', '2024-02-29'],
  ['۱۴۰۵۰۹۰۶', '2026-11-27'],
  ['20240229', '2024-02-29'],
])('reads %s as %s', (typed, date) => {
  expect(exactDate(typed)).toBe(date)
})

test.each([
  '05/9/1',
  '26-09-01',
  '1404/12/30',
  '1405/7/31',
  '1405/13/1',
  '2026-02-29',
  '2026-00-10',
  '1405/2',
  '140509',
  '1405096',
  '14051301',
  '1405/0906',
  'tomorrow',
  '',
])('refuses "%s", which is not a day', typed => {
  expect(exactDate(typed)).toBeUndefined()
})
