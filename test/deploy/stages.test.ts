import { expect, test } from '@jest/globals'
import { resources } from '../../deploy/template.ts'

/** Every name that a stage gives to a resource of its account. */
const namesOf = async (stage: string): Promise<string[]> => {
  const variables: Readonly<Record<string, string | number>> = {
    'sls:stage': stage,
    'param:prefix': `order-relay-${stage}-`,
    'param:alarmEmail': 'operator@example.com',
    'param:ordersTable': 'orders',
    'param:shift': 'AllAtOnce',
    'param:domain': '',
  }
  const { Resources } = await resources({ resolveVariable: async name => variables[name] ?? 0 })
  return Object.values(Resources).flatMap(({ Properties }) =>
    Object.entries(Properties)
      .filter(([key]) => /^(Queue|Table|Topic|Alarm|Dashboard|Role|Application)Name$/.test(key))
      .map(([, name]) => JSON.stringify(name)),
  )
}

test('two stages of one account have no name in common', async () => {
  const [production, trial] = await Promise.all([namesOf('production'), namesOf('trial')])
  expect(production.length).toBeGreaterThan(25)
  expect(production.filter(name => trial.includes(name))).toEqual([])
  expect(production.filter(name => !name.includes('order-relay-production'))).toEqual([])
})
