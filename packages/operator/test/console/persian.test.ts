import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { alarmsFor, feedAlarmsFor } from '@order-relay/deploy/alarms.ts'
import { undeletedAlarms } from '@order-relay/deploy/math-alarms.ts'
import { ROOT } from '@order-relay/test-support/project.ts'
import { JOINT, SERVICE_MESSAGES } from '@order-relay/web/service-messages.ts'
import { MESSAGES as PANEL_MESSAGES } from 'order-relay-sandbox/src/panel/persian-messages.ts'
import { REMEDIES } from '../../audit/remedies.ts'
import { PERSIAN } from '../../console/pages/persian-coded.ts'
import { MESSAGES } from '../../console/pages/persian-messages.ts'
import { MESSAGES as FINDINGS } from '../../core/findings.ts'
import { WAITING } from '../../model/waiting-texts.ts'
import { RECOVERED } from '../../status/recovered.ts'

const namesIn = (text: string) => new Set(text.match(/\{\w+\}/g))

test('a Persian message contains the values of the English message', () => {
  for (const [code, english] of Object.entries({ ...FINDINGS, ...WAITING, ...RECOVERED, ...REMEDIES }))
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

const SOURCES = 'packages/{operator,store,sandbox/src,web}/**/*.{ts,tsx}'
const isTranslation = (name: string) => /node_modules|dist|\btest\b|persian|service-messages/.test(name)

/** The fixed words of a text: without values, and with single spaces. */
const fixed = (text: string) => text.replaceAll('{}', '').replace(/\s+/g, ' ')

const programTexts = () => {
  const files = globSync(['lib/**/*.ts', SOURCES], { cwd: ROOT, exclude: isTranslation })
  const code = files.map(file =>
    readFileSync(join(ROOT, file), 'utf8')
      .replace(/^\s*(\/\/|\/?\*).*$/gm, '')
      .replace(/\\(['"`])/g, '$1'),
  )
  // Templates may have templates in their values.
  const all = code.join('\n')
  const inner = all.replace(/\$\{[^{}]*\}/g, '{}')
  const outer = inner.replace(/\$\{(?:[^{}]|\{\})*\}/g, '{}')
  return fixed(all + inner + outer)
}

test('every Persian text translates an English text that the programs still contain', () => {
  const texts = programTexts()
  const parts = [MESSAGES, PANEL_MESSAGES, SERVICE_MESSAGES].flatMap(messages =>
    Object.keys(messages).flatMap(english => english.split(JOINT).map(part => ({ english, part }))),
  )
  const lost = parts.filter(({ part }) => !texts.includes(fixed(part.replace(/\{=?\w+\}/g, '{}')).trim()))
  expect(lost).toEqual([])
})

/** The texts of a dictionary's source, one at the end of each entry. */
const persianTexts = (source: string) =>
  [...source.matchAll(/:\s+(['"`])((?:\\.|(?!\1).)*)\1,?$/gm)].map(([, , text = '']) => text)

test.each(
  globSync('packages/{operator,sandbox/src,web}/**/{persian*,service-messages}.ts', {
    cwd: ROOT,
    exclude: path => /node_modules|dist|\btest\b/.test(path),
  }),
)('every text in %s has been translated into Persian', file => {
  const texts = persianTexts(readFileSync(join(ROOT, file), 'utf8'))
  expect(texts).not.toEqual([])
  // Some texts have only values and signs.
  const words = (text: string) => text.replace(/\{\w+\}|\\u\w{4}/g, '')
  expect(texts.filter(text => /\p{L}/u.test(words(text)) && !/\p{Script=Arabic}/u.test(text))).toEqual([])
})
