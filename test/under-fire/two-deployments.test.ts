import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { afterEach, expect, jest, test } from '@jest/globals'
import * as v from 'valibot'
import { parse } from 'yaml'
import { asks, inReview, lifeOf } from './lives.ts'
import { withRelay } from './relay.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

test('two sets of functions that take everything at once register and tell it once', () =>
  withRelay(
    async relay => {
      const lives = [
        lifeOf('o00001', 'shop', { returns: true }),
        lifeOf('o00002', 'shop'),
        lifeOf('o00003', 'web', { returns: true }),
        lifeOf('o00004', 'web'),
      ]
      await Promise.all(lives.map(life => inReview(relay, life)))
      await Promise.all(lives.map(({ source, id }) => relay.sandbox.mend(source, id)))
      const returned = lives.filter(({ returns }) => returns)
      const answers = await Promise.all([...returned.map(life => asks(relay, life, 'refund')), relay.work()])
      expect(answers).toEqual([202, 202, undefined])
      relay.pass(11 * 60_000)
      await relay.check()
      await relay.settle(lives)
      expect(await relay.complaints(lives)).toEqual([])
      for (const { id } of lives)
        expect(await relay.sandbox.webhooks(id)).toMatchObject([{ state: 'delivered' }])
    },
    { deployments: 2 },
  ))

const require = createRequire(import.meta.url)

type Make = (serverless: { resolveVariable: (name: string) => Promise<string> }) => Promise<unknown>
const template = v.object({ Resources: v.record(v.string(), v.looseObject({ Properties: v.unknown() })) })
const properties = v.record(v.string(), v.unknown())

/** Every name by which a resource of a stage is known in its account. */
const namesOf = async (stage: string): Promise<string[]> => {
  const variables: Readonly<Record<string, string>> = {
    'sls:stage': stage,
    'param:prefix': `order-relay-${stage}-`,
    'param:alarmEmail': '',
  }
  const resolveVariable = async (name: string) => variables[name] ?? ''
  const made = await Promise.all(
    ['feeds', 'topic', 'alarms', 'dashboard'].map(file => {
      const make: Make = require(`../../deploy/${file}.cjs`)
      return make({ resolveVariable })
    }),
  )
  const read = ['tables', 'queues'].map(file => {
    const text = readFileSync(`deploy/${file}.yml`, 'utf8')
    const filled = text.replaceAll(/\$\{((?:param|sls):\w+)\}/g, (_all, name) => variables[name] ?? '')
    return parse(filled, { logLevel: 'error' })
  })
  return [...made, ...read].flatMap(part =>
    Object.values(v.parse(template, part).Resources).flatMap(({ Properties }) =>
      Object.entries(v.parse(properties, Properties ?? {}))
        .filter(([key]) => /^(Queue|Table|Topic|Alarm|Dashboard)Name$/.test(key))
        .map(([_key, name]) => String(name)),
    ),
  )
}

test('two stages of one account have no name in common', async () => {
  const [production, trial] = await Promise.all([namesOf('production'), namesOf('trial')])
  expect(production.length).toBeGreaterThan(25)
  expect(production.filter(name => trial.includes(name))).toEqual([])
  expect(production.filter(name => !name.startsWith('order-relay-production'))).toEqual([])
})
