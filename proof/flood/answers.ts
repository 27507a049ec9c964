import { KINDS, type Kind, mixOf, type Plan } from './plan.ts'

const QUEUED = '200 queued'
const DUPLICATE = '200 duplicate'
const FORGED = '401 unauthorized'

/** How each kind is to be answered. Of twins one may find the other's record or come too early for it. */
export const ANSWERS: Record<Kind, readonly string[]> = {
  first: [QUEUED],
  duplicate: [DUPLICATE],
  twin: [QUEUED, DUPLICATE],
  foreign: ['200 ignored'],
  'bad-signature': [FORGED],
  stale: [FORGED],
  malformed: [FORGED],
  oversized: ['413 too_large'],
}

type Counts = Readonly<Record<string, number>>

/** Calls of the receivers to DynamoDB and SQS for one kind; secrets are read beside it, see below. */
export const callsFor = (calls: Counts, kind: Kind): number =>
  ['GetItem', 'SendMessage', 'PutItem'].reduce(
    (sum, action) => sum + (calls[`receiver ${action} ${kind}`] ?? 0),
    0,
  )

export type Told = {
  answers: Counts
  calls: Counts
  /** How often the sender had to come again; each time may have cost up to three calls. */
  unavailable: number
  receivers: number
  seconds: number
}

/** How often each receiver may read the secrets: at its start, each minute after a mismatch, and when they are old. */
const secretReads = ({ receivers, seconds }: Told) =>
  receivers * (1 + Math.ceil(seconds / 60) + Math.floor(seconds / 300))

const complaintsOfKind = (kind: Kind, plan: Plan, { answers, calls, unavailable }: Told): string[] => {
  const given = (answer: string) => answers[`${kind}: ${answer}`] ?? 0
  const sent = mixOf(plan)[kind]
  const asDue = ANSWERS[kind].reduce((sum, answer) => sum + given(answer), 0)
  const cost = callsFor(calls, kind)
  const due = 3 * given(QUEUED) + given(DUPLICATE)
  const complaints: string[] = []
  // After a 503 the record may have been made all the same, and the change is then a duplicate.
  const late = kind === 'first' ? Math.min(given(DUPLICATE), unavailable) : 0
  if (asDue + late !== sent)
    complaints.push(`${asDue} of ${sent} ${kind} were answered ${ANSWERS[kind].join(' or ')}`)
  if (kind === 'twin' && given(QUEUED) < sent / 2 && unavailable === 0) {
    complaints.push(`Of ${sent / 2} pairs of twins only ${given(QUEUED)} were queued`)
  }
  if (cost < due || cost > due + (due === 0 ? 0 : 3 * unavailable)) {
    complaints.push(`${sent} ${kind} cost ${cost} calls to AWS instead of ${due}`)
  }
  return complaints
}

/** What is wrong with the answers, and with the calls to AWS that they cost (promise P4). */
export const complaintsOfAnswers = (plan: Plan, told: Told): readonly string[] => {
  const { answers, calls } = told
  const complaints = KINDS.flatMap(kind => complaintsOfKind(kind, plan, told))
  const answered = Object.values(answers).reduce((sum, count) => sum + count, 0)
  if (answered !== plan.deliveries)
    complaints.push(`${answered} of ${plan.deliveries} deliveries were answered`)

  const known =
    /^receiver (?:(?:GetItem|SendMessage|PutItem) (?:first|duplicate|twin)|GetParametersByPath .*)$/
  for (const [name, count] of Object.entries(calls)) {
    if (name.startsWith('receiver ') && !known.test(name))
      complaints.push(`There were ${count} calls "${name}"`)
    if (name.includes(' accounting ')) complaints.push(`The accounting service was asked ${count} times`)
  }
  const reads = Object.entries(calls)
    .filter(([name]) => name.startsWith('receiver GetParametersByPath'))
    .reduce((sum, [, count]) => sum + count, 0)
  if (reads > secretReads(told))
    complaints.push(`The secrets were read ${reads} times; ${secretReads(told)} are due`)
  return complaints
}
