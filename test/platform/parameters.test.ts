import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import {
  indexedParameters,
  indexTexts,
  type ParameterCache,
  type Parameters,
  parameterCache,
  parametersBelow,
  singleParameter,
} from '../../lib/platform/parameters.ts'
import { stackForTests } from '../support/stack.ts'

const { stack } = await stackForTests()

const SECOND = 1000
const MINUTE = 60 * SECOND

describe('Parameter Store', () => {
  test('parameters below a path are read page by page, named relative to it', async () => {
    const expected = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`a/${index}`, `v${index}`]))
    for (const [name, value] of Object.entries(expected)) await stack.set(`pages/${name}`, value)
    stack.clear()
    expect(await parametersBelow(stack.ssm, `${stack.settings.secretsPath}/pages`)()).toEqual(expected)
    expect(stack.calls.length).toBeGreaterThan(1)
    expect(new Set(stack.commands())).toEqual(new Set(['GetParametersByPath']))
  })

  test('any number of parameters is read from their index with one call, if it is complete', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `shop-${index}/${randomBytes(6).toString('hex')}`)
    const expected = Object.fromEntries(names.map(name => [name, randomBytes(16).toString('hex')]))
    const [first, ...texts] = indexTexts(expected)
    const load = indexedParameters(stack.ssm, `${stack.settings.secretsPath}/keys`)
    await stack.set('keys/by-itself', 'a')
    for (const [index, text] of texts.entries()) await stack.set(`keys-index/${index}`, text)
    expect(await load()).toEqual({ 'by-itself': 'a' })
    await stack.set('keys-index/9', first ?? '')
    stack.clear()
    expect(await load()).toEqual(expected)
    expect(stack.commands()).toEqual(['GetParametersByPath'])
    // A change of one key changes one text: no reader sees half of it.
    const changed = indexTexts({ ...expected, 'shop-1/new': 'x' })
    expect(changed.filter((text, index) => text !== [first, ...texts][index])).toHaveLength(1)
  })

  test('a single parameter is read by its name, and a missing one is no error', async () => {
    await stack.set('single', 'one')
    const load = (name: string) => singleParameter(stack.ssm, stack.settings.secretsPath, name)()
    expect(await load('single')).toEqual({ single: 'one' })
    expect(await load('missing')).toEqual({})
    stack.faults.set('GetParameter', 'before')
    await expect(load('single')).rejects.toThrow('no response to GetParameter')
  })
})

describe('cached parameters', () => {
  let now: number
  let reads: number
  let stored: Parameters | Error
  let cache: ParameterCache

  beforeEach(() => {
    now = 0
    reads = 0
    stored = { a: 'one' }
    const load = async () => {
      reads++
      const values = stored
      await new Promise(setImmediate)
      if (values instanceof Error) throw values
      return values
    }
    cache = parameterCache(load, { now: () => now, random: () => 0.5 })
  })

  const find = (name: string, interval?: number) => cache.find(values => values[name], interval)

  test('are read once and then kept for a minute', async () => {
    for (let count = 0; count < 5; count++) await cache.get()
    now = MINUTE - 1
    stored = {}
    expect(await cache.get()).toEqual({ a: 'one' })
    expect(reads).toBe(1)
    now = MINUTE
    expect(await cache.get()).toEqual({})
    expect(reads).toBe(2)
  })

  test('are read again to find what is missing, at most once a minute', async () => {
    await cache.get()
    stored = { a: 'one', b: 'two' }
    expect(await find('b')).toBe('two')
    expect(reads).toBe(2)
    for (let count = 0; count < 100; count++) expect(await find('c')).toBeUndefined()
    expect(reads).toBe(2)
    now = MINUTE
    expect(await find('c')).toBeUndefined()
    // One read because the values are a minute old, one because of the miss.
    expect(reads).toBe(4)
  })

  test('are read again more often with a shorter interval', async () => {
    for (const time of [0, 999, SECOND, 1999, 2 * SECOND]) {
      now = time
      expect(await find('b', SECOND)).toBeUndefined()
    }
    expect(reads).toBe(4)
  })

  test('are read once for any number of callers at a time, and all of them see the result', async () => {
    expect(await Promise.all([cache.get(), cache.get(), find('a')])).toEqual([stored, stored, 'one'])
    expect(reads).toBe(1)
    stored = { b: 'two' }
    // The second of two simultaneous callers waits for the read that the first one began.
    expect(await Promise.all([find('b'), find('b'), find('b')])).toEqual(['two', 'two', 'two'])
    expect(reads).toBe(2)
  })

  test('a failed read is remembered for about half a minute', async () => {
    stored = new Error('throttled')
    for (let count = 0; count < 100; count++) await expect(cache.get()).rejects.toThrow('throttled')
    expect(reads).toBe(1)
    now = 30 * SECOND - 1
    await expect(find('a')).rejects.toThrow('throttled')
    expect(reads).toBe(1)
    now = 30 * SECOND
    stored = { a: 'one' }
    expect(await find('a')).toBe('one')
    expect(reads).toBe(2)
  })

  test.each([
    [0, 22_500],
    [1, 37_500],
  ])('with a jitter of a quarter: random %p gives %p ms', async (random, pause) => {
    const load = async () => {
      reads++
      throw new Error('throttled')
    }
    const { get } = parameterCache(load, { now: () => now, random: () => random })
    for (const time of [0, pause - 1]) {
      now = time
      await expect(get()).rejects.toThrow('throttled')
    }
    expect(reads).toBe(1)
    now = pause
    await expect(get()).rejects.toThrow('throttled')
    expect(reads).toBe(2)
  })

  test('remain in use for an hour while they cannot be read, and no longer', async () => {
    await cache.get()
    stored = new Error('down')
    for (now = MINUTE; now < 60 * MINUTE; now += 5 * SECOND) {
      expect(await cache.get()).toEqual({ a: 'one' })
      expect(await find('b')).toBeUndefined()
    }
    expect(reads).toBeLessThanOrEqual(1 + 59 * 2)
    now = 60 * MINUTE
    await expect(cache.get()).rejects.toThrow('down')
    await expect(find('a')).rejects.toThrow('down')
  })

  test('a failure of the read after a miss finds nothing', async () => {
    await cache.get()
    stored = new Error('down')
    expect(await find('b')).toBeUndefined()
    stored = { b: 'two' }
    expect(await find('b')).toBeUndefined()
    expect(reads).toBe(2)
    now = MINUTE
    expect(await find('b')).toBe('two')
  })
})
