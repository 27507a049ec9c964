import { expect, test } from '@jest/globals'
import { addDays, exactDate, jalaliOf, lastDayOf, latinDigits } from '../calendar.ts'

test('reads every day of forty years in both calendars', () => {
  for (let day = '1990-01-01'; day < '2030-01-01'; day = addDays(day, 1)) {
    const jalali = jalaliOf(day).join('/')
    expect([day, exactDate(jalali), exactDate(day)]).toEqual([day, day, day])
  }
})

test('the leap years of the Jalali calendar are those of Iran', () => {
  const years = Array.from({ length: 70 }, (_, index) => 1375 + index)
  expect(years.filter(year => exactDate(`${year}/12/30`) !== undefined)).toEqual([
    1375, 1379, 1383, 1387, 1391, 1395, 1399, 1403, 1408, 1412, 1416, 1420, 1424, 1428, 1432, 1436, 1441,
  ])
})

test('replaces Persian and Arabic digits with Latin ones', () => {
  expect(latinDigits('۰۱۲۳۴۵۶۷۸۹ ٠١٢٣٤٥٦٧٨٩ 42')).toBe('0123456789 0123456789 42')
})

test('knows the last day of a month in both calendars', () => {
  const months = [
    { year: 1405, month: 12 },
    { year: 1403, month: 12 },
    { year: 1405, month: 6 },
    { year: 2026, month: 2 },
    { year: 2026, month: 13 },
    { year: 1405, month: 0 },
  ]
  expect(months.map(lastDayOf)).toEqual([
    '2027-03-20',
    '2025-03-20',
    '2026-09-22',
    '2026-02-28',
    undefined,
    undefined,
  ])
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
  ['1405 9 5', '2026-11-26'],
  ['۱۴۰۵٫۹٫۵', '2026-11-26'],
  ['١٤٠٥،٠٩،٠٥', '2026-11-26'],
  ['١٤٠٥؍٩؍٥', '2026-11-26'],
  ['۱۴۰۵⁄۹⁄۵', '2026-11-26'],
  ['۲۰۲۶–۱۱–۲۶', '2026-11-26'],
  ['٢٠٢٦−١١−٢٦', '2026-11-26'],
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
