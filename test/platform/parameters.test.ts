import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import {
  indexedParameters,
  indexTexts,
  parameterCache,
  parametersBelow,
  singleParameter,
} from '../../lib/platform/parameters.ts'
import { parametersForTests } from '../support/parameters.ts'
import { MINUTE, SECOND } from '../support/scenarios.ts'
import { stackForTests } from '../support/stack.ts'

const { stack } = await stackForTests()
const { ssm } = stack
const { secretsPath } = stack.settings

describe('Parameter Store', () => {
  test('reads the parameters below a path page by page, with names relative to it', async () => {
    const expected = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`a/${index}`, `v${index}`]))
    for (const [name, value] of Object.entries(expected)) await stack.set(`pages/${name}`, value)
    stack.clear()
    expect(await parametersBelow(ssm, `${secretsPath}/pages`)()).toEqual(expected)
    expect(stack.commands()).toEqual(['GetParametersByPath', 'GetParametersByPath'])
  })

  test('reads any number of parameters with one call if their index is complete', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `shop-${index}/${randomBytes(6).toString('hex')}`)
    const expected = Object.fromEntries(names.map(name => [name, randomBytes(16).toString('hex')]))
    const [first, ...texts] = indexTexts(expected)
    const load = indexedParameters(ssm, `${secretsPath}/keys`)
    await stack.set('keys/by-itself', 'a')
    for (const [index, text] of texts.entries()) await stack.set(`keys-index/${index}`, text)
    expect(await load()).toEqual({ 'by-itself': 'a' })
    await stack.set('keys-index/9', first ?? '')
    stack.clear()
    expect(await load()).toEqual(expected)
    expect(stack.commands()).toEqual(['GetParametersByPath'])
    // A change of one key changes one text, so no reader sees a partial change.
    const changed = indexTexts(
      Object.fromEntries([['shop-1/new', 'x'], ...Object.entries(expected).reverse()]),
    )
    expect(changed.filter((text, index) => text !== [first, ...texts][index])).toHaveLength(1)
    // A secret and the one that it replaces are in the same text.
    expect(indexTexts({ shop: 'x', 'shop.1': 'y' }).filter(text => text !== '{}')).toHaveLength(1)
  })

  test('reads a single parameter by name, and returns undefined for a missing one', async () => {
    await stack.set('single', 'one')
    const load = (name: string) => singleParameter(ssm, secretsPath, name)()
    expect([await load('single'), await load('missing')]).toEqual([{ single: 'one' }, {}])
    stack.faults.set('GetParameter', 'before')
    await expect(load('single')).rejects.toThrow('no response to GetParameter')
  })
})

describe('cached parameters', () => {
  let { state, cache } = parametersForTests({})
  beforeEach(() => {
    ;({ state, cache } = parametersForTests({ a: 'one' }))
  })
  const find = (name: string, interval?: number) => cache.find(values => values[name], interval)

  test('are read once for concurrent callers, and cached for a minute', async () => {
    expect(await Promise.all([cache.get(), cache.get(), find('a')])).toEqual([
      { a: 'one' },
      { a: 'one' },
      'one',
    ])
    state.now = MINUTE - 1
    state.stored = {}
    expect([await cache.get(), state.reads]).toEqual([{ a: 'one' }, 1])
    state.now = MINUTE
    expect([await cache.get(), state.reads]).toEqual([{}, 2])
  })

  test('are read again for a missing name at most once a minute', async () => {
    await cache.get()
    state.stored = { a: 'one', b: 'two' }
    // The second of two simultaneous callers waits for the read that the first one began.
    expect(await Promise.all([find('b'), find('b')])).toEqual(['two', 'two'])
    for (let count = 0; count < 100; count++) expect(await find('c')).toBeUndefined()
    expect(state.reads).toBe(2)
    state.now = MINUTE
    expect(await find('c')).toBeUndefined()
    // One read because the values are a minute old, one because of the miss.
    expect(state.reads).toBe(4)
  })

  test('are read again more often with a shorter interval', async () => {
    for (state.now of [0, 999, SECOND, 1999, 2 * SECOND]) expect(await find('b', SECOND)).toBeUndefined()
    expect(state.reads).toBe(4)
  })

  test.each([
    [0, 22_500],
    [0.5, 30_000],
    [1, 37_500],
  ])('are not read for half a minute after a failed read, jittered by %p: %p ms', async (random, pause) => {
    await cache.get()
    Object.assign(state, { random, stored: new Error('throttled') })
    for (const later of [0, 1, pause - 1]) {
      state.now = MINUTE + later
      expect(await find('a')).toBe('one')
    }
    expect(state.reads).toBe(2)
    Object.assign(state, { now: MINUTE + pause, stored: { a: 'two' } })
    expect([await find('a'), state.reads]).toEqual(['two', 3])
  })

  test.each([
    [0, [1000, 2000, 2000]],
    [1, [2000, 4000, 4000]],
  ])(
    'are read again after one to four seconds until the first successful read, jittered by %p',
    async (random, pauses) => {
      Object.assign(state, { random, stored: new Error('throttled') })
      let reads = 0
      for (const pause of pauses) {
        const from = state.now
        for (const later of [0, 1, pause - 1]) {
          state.now = from + later
          await expect(find('a')).rejects.toThrow('throttled')
        }
        expect(state.reads).toBe(++reads)
        state.now = from + pause
      }
      state.stored = { a: 'one' }
      expect([await find('a'), state.reads]).toEqual(['one', reads + 1])
    },
  )

  test('reach 300 environments that start together within 12 seconds, at 40 reads a second', async () => {
    let time = 0
    let [tokens, refused] = [40, 0]
    const load = async () => {
      if (tokens < 1) {
        refused++
        throw new Error('throttled')
      }
      tokens--
      return { a: 'one' }
    }
    // Deterministic, and different for each environment and attempt.
    let seed = 1
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed / 2_147_483_647
    }
    const caches = Array.from({ length: 300 }, () => parameterCache(load, { now: () => time, random }))
    const readyAt = new Map<unknown, number>()
    // Each environment gets a delivery every 100 ms.
    for (; readyAt.size < caches.length && time < MINUTE; time += 100) {
      tokens = Math.min(40, tokens + 4)
      for (const each of caches) {
        if (readyAt.has(each)) continue
        await each.get().then(
          () => readyAt.set(each, time),
          () => undefined,
        )
      }
    }
    const times = [...readyAt.values()].sort((a, b) => a - b)
    expect(times).toHaveLength(300)
    expect(times[150]).toBeLessThan(6000)
    expect(times.at(-1)).toBeLessThan(12_000)
    // Per environment at most one refused read every other second.
    expect(refused).toBeLessThan(300 * 5)
  })

  test('remain valid for one hour while they cannot be read', async () => {
    await cache.get()
    state.stored = new Error('down')
    for (state.now = MINUTE; state.now < 60 * MINUTE; state.now += 5 * SECOND) {
      expect([await cache.get(), await find('b')]).toEqual([{ a: 'one' }, undefined])
    }
    expect(state.reads).toBeLessThanOrEqual(1 + 59 * 2)
    state.now = 60 * MINUTE
    await expect(cache.get()).rejects.toThrow('down')
    await expect(find('a')).rejects.toThrow('down')
  })

  test('return nothing when the read after a miss fails', async () => {
    await cache.get()
    state.stored = new Error('down')
    expect(await find('b')).toBeUndefined()
    state.stored = { b: 'two' }
    expect([await find('b'), state.reads]).toEqual([undefined, 2])
    state.now = MINUTE
    expect(await find('b')).toBe('two')
  })
})
