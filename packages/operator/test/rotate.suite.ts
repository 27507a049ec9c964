import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { local } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'

const ORDERS = 24

/** The webhook function's log lines. */
const received = async () => {
  const { out } = await local.relay(['tail', '--no-follow', '--since', '2m', '--json'])
  return out
    .split('\n')
    .filter(line => line.includes('"delivery received"'))
    .map(line => JSON.parse(line))
}

export const rotateTests = () => {
  test('webhooks with one signature each arrive once during a rotation, and the next run completes an interrupted one', async () => {
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
      if (rotating) await sleep(200)
    }
    const { data: begun } = await rotation
    expect(begun).toMatchObject({ retired: false, resumed: false, old: [expect.any(String)] })

    // A webhook with a secret that is not known yet is deferred and retried.
    const queued = async () =>
      (await received())
        .flatMap(({ outcome, external_id }) => (outcome === 'queued' ? [String(external_id)] : []))
        .filter(id => ids.includes(id))
    await until(async () => new Set(await queued()).size === ORDERS)
    expect((await queued()).sort()).toEqual(ids.toSorted())
    expect((await received()).filter(({ why }) => why === 'mismatch')).toEqual([])
    const { body } = await local.sandbox('GET', `/panel/deliveries?limit=${ORDERS}`)
    const signatures = JSON.stringify(body).match(/"x-service-signature":"[^"]*"/g)
    expect(signatures?.filter(each => !/:"t=\d+,v1=[0-9a-f]{64}"$/.test(each))).toEqual([])
    expect(signatures?.length).toBeGreaterThanOrEqual(ORDERS)

    expect((await local.relay(['doctor'])).out).toMatch(
      /2 webhook secrets are stored: .*\n.*delete the old one: relay rotate --local$/m,
    )
    const { data } = await local.json(['rotate', '--overlap', '0s'])
    expect(data).toMatchObject({ fresh: begun.fresh, old: begun.old, retired: true, resumed: true })
    expect((await local.relay(['doctor'])).out).toContain('No problems found')
  })
}
