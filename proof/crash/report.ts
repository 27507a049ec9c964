import type { Case } from './explore.ts'
import { PATTERNS } from './explore.ts'
import { MEANING, MODES } from './faults.ts'
import { LIVES } from './lives.ts'
import { type Count, cellOf, type Matrix } from './matrix.ts'
import { PLACES } from './places.ts'

/** What is known of a planted bug: the case that caught it, if one did. */
export type Planted = { bug: string; caught: Case | undefined }

const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')

const shown = (count: Count | undefined) => {
  if (count === undefined) return '–'
  return count.broken === 0 ? `✓ ${count.runs}` : `✗ ${count.broken} of ${count.runs}`
}

const faultsOf = ({ faults }: Case) =>
  faults.length === 0 ? 'no fault' : faults.map(({ place, mode }) => `${mode} at “${place}”`).join(', then ')

const withoutIds = (complaint: string) => complaint.replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, '…')

/** One case in a line, with what is needed to see it again. */
export const told = (one: Case): string => {
  const again = one.faults.map(({ at, mode }) => `${at}:${mode}`).join(',')
  return `${one.life}; ${one.pattern}; ${faultsOf(one)} (--fault "${again}"): ${one.complaints.join('; ')}`
}

/** Places at which no run was ever struck: the matrix would have a hole there. */
export const holes = ({ cells }: Matrix): string[] =>
  PLACES.flatMap(place =>
    MODES.filter(mode => !cells.has(cellOf(place, mode))).map(mode => `${place}, ${mode}`),
  )

const placesTable = ({ cells }: Matrix) =>
  table(
    ['place', ...MODES],
    PLACES.map(place => [place, ...MODES.map(mode => shown(cells.get(cellOf(place, mode))))]),
  )

const livesTable = ({ lives }: Matrix) =>
  table(
    ['what happens', ...PATTERNS.map(({ name }) => name)],
    LIVES.map(({ name }) => [name, ...PATTERNS.map(pattern => shown(lives.get(cellOf(name, pattern.name))))]),
  )

const bugsTable = (planted: readonly Planted[]) =>
  table(
    ['planted bug', 'caught by', 'because'],
    planted.map(({ bug, caught }) =>
      caught === undefined
        ? [bug, '**nothing**', '']
        : [
            bug,
            `${caught.life}; ${caught.pattern}; ${faultsOf(caught)}`,
            withoutIds(caught.complaints[0] ?? ''),
          ],
    ),
  )

const modesList = MODES.map(mode => `- **${mode}**: ${MEANING[mode]}`).join('\n')

/** The whole proof as a document; the same runs make the same text. */
export const document = (matrix: Matrix, planted: readonly Planted[]): string =>
  `# Proof

Written by \`npm run proof\`, which makes every run anew; \`npm run proof -- --check\` fails when this page is
not what it would write.

The code of the receiver, the stores' API, the reconciliation and the worker runs for real, with models of
SQS, DynamoDB, Parameter Store, the accounting service, its sender and a store at its other end, and with a
clock that the proof controls: days pass in milliseconds. Every await is a place to die. Each life below is
lived in each pattern once without a fault, and then once for every call that it makes and every way in
which that call can end:

${modesList}

After every run, when nothing is under way any more, all of this must hold:

- nothing is lost: what was answered 200 or 202 came on the line; the table and the store know the truth of the
  service; no webhook was given up, none is stuck, none is dead; what is unreadable is in quarantine byte for byte
- nothing happens twice: the service made each invoice, receipt and return exactly once, the store heard no
  news twice under different names, nothing was queued twice within five minutes
- the feed is in order: no version is skipped, and none is told anew after a higher one
- only its own order waits: an order with which nothing is wrong is handled once, and at once
- no webhook is taken whose time is more than 300 s off

**${matrix.total.runs} runs, ${matrix.total.broken} broke a promise.**

## Where it was struck

How many runs were struck at a place (✓ none of them broke a promise).

${placesTable(matrix)}

## What happened meanwhile

“Again within five minutes” and “after five minutes” say when the sender, or the store, comes again after a
failure: inside or outside the window in which SQS drops duplicates. “Repeated” comes once more after it was
taken; “concurrent” comes twice at the same instant, every time.

${livesTable(matrix)}

## Bugs that it finds

A proof that finds nothing could be blind. These bugs are planted in the harness, one after the other, and
each has to be caught.

${bugsTable(planted)}

## What is assumed

- A worker does not outlive the visibility timeout of its messages: Lambda ends it after 30 s, and the messages
  come back after 180 s. What it has sent by then takes effect at once or never, but for the late ones above.
- A message to a store's feed that timed out arrives within 3 s or never; that is the shortest wait before the
  next attempt. Everything else may take effect as late as it likes: the orders table refuses what is outdated,
  and the service takes every request twice without harm. A feed has no such condition.
`
