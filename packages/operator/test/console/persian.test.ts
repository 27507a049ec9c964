import { expect, test } from '@jest/globals'
import { alarmsFor, feedAlarmsFor } from '@order-relay/deploy/alarms.ts'
import { undeletedAlarms } from '@order-relay/deploy/math-alarms.ts'
import { PERSIAN } from '../../console/pages/persian-coded.ts'
import { MESSAGES } from '../../doctor/messages.ts'
import { WAITING } from '../../orders/messages.ts'

const namesIn = (text: string) => new Set(text.match(/\{\w+\}/g))

test('a Persian message contains the values of the English message', () => {
  for (const [code, english] of Object.entries({ ...MESSAGES, ...WAITING }))
    expect({ code, names: namesIn(Reflect.get(PERSIAN, code)) }).toEqual({ code, names: namesIn(english) })
})

test('a Persian alarm names the store of its feed, like the English alarm', () => {
  const store = { source: 'shop', feed: 'sqs', dead_letter_after: 5 } as const
  const alarms = {
    ...alarmsFor('relay', []),
    ...feedAlarmsFor({ prefix: '', stores: [store] }),
    ...undeletedAlarms({ prefix: '', stores: [{ source: 'shop', feed: 'sqs' }] }),
  }
  for (const { code, summary } of Object.values(alarms))
    expect([code, PERSIAN[`alarm/${code}`].includes('{store}')]).toEqual([code, summary.includes('"shop"')])
})
