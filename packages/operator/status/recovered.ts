/** What the alarms of the accounting service say once no order fails because of it, since they look back over minutes. */
const RECOVERED = {
  'breaker-open': [
    'unavailable',
    'The accounting service was unavailable; no order fails because of it anymore. The alarm ends shortly.',
  ],
  'service-unauthorized': [
    'unauthorized',
    'The accounting service rejected the API key; no order fails because of it anymore. The alarm ends shortly.',
  ],
} as const

/** The number of orders that fail, and of those that wait for the accounting service. */
type Failing = Readonly<Record<'unavailable' | 'unauthorized', number>> & { more: boolean }

/** The text of an active alarm whose cause has ended; undefined for others. */
export const recoveredText = (code: string, failing: Failing | undefined) => {
  const [cause, text] = Object.entries(RECOVERED).find(([each]) => each === code)?.[1] ?? []
  // The orders beyond the limit may wait for it.
  return cause !== undefined && failing?.[cause] === 0 && !failing.more ? text : undefined
}
