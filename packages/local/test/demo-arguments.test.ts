import { expect, test } from '@jest/globals'
import { readArguments } from '../demo/arguments.ts'

test('the demo accepts a connector and its options in any order', () => {
  expect(readArguments([])).toEqual({ connector: undefined, stay: false, verbose: false, help: false })
  expect(readArguments(['--stay', 'woo', '--verbose'])).toMatchObject({
    connector: 'woo',
    stay: true,
    verbose: true,
  })
})

test.each([
  [['--sty'], '"--sty" is not an option; the options are --stay, --verbose, --help'],
  [['woo', '-s'], '"-s" is not an option; the options are --stay, --verbose, --help'],
  [['--stay=yes'], '"--stay=yes" is not an option; the options are --stay, --verbose, --help'],
  [['woo', 'stay'], '"woo" and "stay" are given; name one connector'],
])('the demo refuses %j', (args, found) => {
  expect(() => readArguments(args)).toThrow(`Cannot run the demo: ${found}`)
})
