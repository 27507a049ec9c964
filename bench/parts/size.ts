import type { Part } from '../context.ts'

const LIMIT_KB = 90

/** What a deployment uploads. */
export const size: Part = async ({ zips }) => {
  const packages = [...(await zips())]
  const receiver = (packages.find(([name]) => name === 'webhook')?.[1].length ?? Number.NaN) / 1000
  return {
    title: 'Size',
    text: ['The zips of `npx serverless package`; `npm run size` holds each against `deploy/budget.json`.'],
    tables: [
      {
        head: ['function', 'zip, KB'],
        rows: packages.map(([name, zip]) => [name, (zip.length / 1000).toFixed(1)]),
      },
    ],
    targets: [
      {
        what: 'zip of the receiver',
        target: `≤ ${LIMIT_KB} KB`,
        found: `${receiver.toFixed(1)} KB`,
        met: receiver <= LIMIT_KB,
      },
    ],
  }
}
