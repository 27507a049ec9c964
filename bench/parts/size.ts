import type { Part } from '../context.ts'

const LIMIT_KB = 130

/** The zips that a deployment uploads, in KB. */
export const size: Part = async ({ zips }) => {
  const sizes = Object.fromEntries([...(await zips())].map(([name, zip]) => [name, zip.length / 1000]))
  const receiver = sizes.webhook ?? Number.NaN
  return {
    results: sizes,
    targets: [
      {
        what: 'zip of the receiver',
        target: `≤ ${LIMIT_KB} KB`,
        found: `${receiver} KB`,
        met: receiver <= LIMIT_KB,
      },
    ],
  }
}
