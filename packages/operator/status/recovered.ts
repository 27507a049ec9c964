/** What the alarms of the accounting service say once no order fails, since they look back over minutes. */
const RECOVERED = {
  'breaker-open': 'The accounting service was unavailable; no order fails anymore. The alarm ends shortly.',
  'service-unauthorized':
    'The accounting service rejected the API key in the last minutes; no order fails now.',
} as const

/** The text of an active alarm whose cause has ended; undefined for others. @param failing number of failing orders */
export const recoveredText = (code: string, failing: number | undefined) =>
  failing === 0 ? Object.entries(RECOVERED).find(([each]) => each === code)?.[1] : undefined
