import { wrongUsage } from '../failure.ts'

/** What a filter can go by; what a message does not say fits no filter that asks for it. */
export type Described = {
  /** Its SQS message id, and the id of the delivery or request within, where there is one. */
  ids: readonly string[]
  source?: string | undefined
  external_id?: string | undefined
  event?: string | undefined
  at: Date
}

/** The options by which messages are chosen. */
export type Selection = {
  source?: string | undefined
  event?: string | undefined
  since?: Date | undefined
  order?: string | undefined
}

/** Whether a message is among those chosen by their ids, or by filter. */
export const isChosen = (
  { ids, source, external_id, event, at }: Described,
  chosen: readonly string[],
  selection: Selection,
): boolean =>
  (chosen.length === 0 || ids.some(id => chosen.includes(id))) &&
  (selection.source === undefined || selection.source === source) &&
  (selection.order === undefined || selection.order === external_id) &&
  (selection.event === undefined || selection.event === event) &&
  (selection.since === undefined || at >= selection.since)

/**
 * That something was chosen at all: to act on everything must be said.
 *
 * @throws Failure when nothing was
 */
export const requireChoice = (
  action: string,
  ids: readonly string[],
  { source, event, since, order, all }: Selection & { all?: true | undefined },
): void => {
  const filtered = [source, event, since, order].some(value => value !== undefined)
  if (ids.length > 0 && all === true) {
    throw wrongUsage(action, 'both ids and --all are given', 'leave one of them out')
  }
  if (ids.length === 0 && !filtered && all !== true) {
    throw wrongUsage(action, 'no message is named', 'give ids, a filter such as --source, or --all')
  }
}
