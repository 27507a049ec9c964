import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { until } from '../support/until.ts'
import { local } from './relay.ts'

const ORDERS = 24

/** What the receiver has logged. */
const received = async () => {
  const { out } = await local.relay(['tail', '--no-follow', '--since', '2m', '--json'])
  return out
    .split('\n')
    .filter(line => line.includes('"delivery received"'))
    .map(line => JSON.parse(line))
}

export const rotateTests = () => {
  test('a rotation refuses nothing, and the next run finishes what an earlier one left', async () => {
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: false })
    const ids = Array.from({ length: ORDERS }, (_, index) => `rotated-${index}`)
    for (const id of ids) await local.create(id)
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: true })

    let rotating = true
    const rotation = local.json(['rotate', '--lead', '0s', '--no-wait']).finally(() => {
      rotating = false
    })
    for (const external_id of ids) {
      const { body } = await local.sandbox('POST', `/panel/orders/${external_id}/retry?source=api`, {})
      expect(body.status).toBe('invoiced')
      if (rotating) await sleep(50)
    }
    const { data: begun } = await rotation
    expect(begun).toMatchObject({ retired: false, resumed: false, old: [expect.any(String)] })

    // A webhook whose secret is not known yet is deferred, and sent again.
    await until(async () => {
      const queued = (await received()).filter(({ outcome }) => outcome === 'queued')
      return new Set(queued.map(({ external_id }) => external_id)).size === ORDERS
    })
    expect((await received()).filter(({ why }) => why === 'mismatch')).toEqual([])

    expect((await local.relay(['doctor'])).out).toContain('a rotation is not finished')
    const { data } = await local.json(['rotate', '--overlap', '0s'])
    expect(data).toMatchObject({ fresh: begun.fresh, old: begun.old, retired: true, resumed: true })
    expect((await local.relay(['doctor'])).out).toContain('No problems found')
  })
}
