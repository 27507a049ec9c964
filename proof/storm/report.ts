import { LINKS, MEANING } from './faults.ts'
import { type Journal, storyOf } from './journal.ts'
import type { Storm } from './run.ts'
import type { Small } from './shrink.ts'

const sum = (counts: Iterable<number>) => [...counts].reduce((total, count) => total + count, 0)

const row = (link: string, ...numbers: (number | string)[]) =>
  link.padEnd(26) + numbers.map(number => String(number).padStart(10)).join('')

const links = ({ requests, faults, overtaken }: Journal): string[] => {
  const struck = Map.groupBy(faults, fault => fault.link)
  return [
    row('', 'requests', 'struck', 'overtaken'),
    ...LINKS.map(link =>
      row(link, requests.get(link) ?? 0, struck.get(link)?.length ?? 0, overtaken.get(link) ?? 0),
    ),
    row('', sum(requests.values()), faults.length, sum(overtaken.values())),
  ]
}

const kinds = ({ faults }: Journal): string[] =>
  [...Map.groupBy(faults, fault => fault.kind)].map(
    ([kind, each]) => `  ${String(each.length).padStart(5)} ${kind}: ${MEANING[kind]}`,
  )

const slowness = ({ tooSlow }: Journal, about: string): string =>
  tooSlow.has(about) ? ` (${tooSlow.get(about)})` : ''

/** What happened in a storm, and what it broke. */
export const told = ({ complaints, journal, found }: Storm): string[] => [
  ...[...complaints].map(([about, wrong]) => `✗ ${about}: ${wrong.join('; ')}${slowness(journal, about)}`),
  ...links(journal),
  'What struck:',
  ...kinds(journal),
  `${journal.webhooks.size} webhooks, ${journal.outdated.size} of them out of date when they came, ${journal.swallowed.size} swallowed;`,
  `${found} orders whose webhook never came and that are known all the same; ${journal.forged.size} strangers`,
]

export const toldSmall = ({ lives, faults }: Small): string[] => [
  ...lives.map(life => JSON.stringify(life)),
  ...faults.map(({ link, name, count, kind, ms }) => {
    const waits = kind === 'delay' || kind === 'late' ? `, ${ms} ms` : ''
    return `  ${link}: ${kind} at request ${count} of "${name}"${waits}`
  }),
]

const STORIES = 10

/** What happened to the orders that ended wrong, for whoever has to find out why. */
export const stories = ({ complaints, journal }: Storm): string =>
  [...complaints]
    .slice(0, STORIES)
    .map(([about, wrong]) => [`${about}: ${wrong.join('; ')}`, ...storyOf(journal, about)].join('\n'))
    .join('\n\n')
