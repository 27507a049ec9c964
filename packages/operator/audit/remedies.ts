import { type Coded, catalogue } from '../core/coded.ts'
import type { Context } from '../core/context.ts'

/** What resolves each kind of difference. */
export const REMEDIES = {
  'remedy/outdated': 'If an order differs from the service, have the worker read it again: {command}',
  'remedy/unregistered':
    'If an order is unknown to the service although a request of its store succeeded, the service had registered it, for example before it was restored from a backup: the store must send the create again. If the order is not wanted, erase it: {command}',
  'remedy/unrequested':
    'If an order is unknown to the service and no successful request of its store is saved here, its status came with a webhook or from a read of the service: it may never have been registered by its store. If the store has the order, the store must send its create; if the order is not wanted, erase it: {command}',
  'remedy/unrecorded':
    'A delivery that was queued but not recorded needs no action: a repetition is handled again, which changes nothing.',
  'remedy/lost-delivery':
    'If a delivery left no trace, have the worker read its order from the service: {command}',
  'remedy/lost-request':
    'If a request left no trace or is not stored with its order, compare the order with what the store requested: {command}. If it does not reflect the request, the store must send it again; a repetition is harmless.',
} as const

export type RemedyCode = keyof typeof REMEDIES

/** The kinds of differences by what resolves them. */
export type Remedy = RemedyCode extends `remedy/${infer Name}` ? Name : never

const say = catalogue(REMEDIES)

const ORDER = '<source> <external_id>'

const remedyOf = (remedy: Remedy, flags: string, since: Date): Coded<RemedyCode> => {
  switch (remedy) {
    case 'outdated':
      return say('remedy/outdated', {
        command: `relay audit --since ${since.toISOString()} --repair${flags}`,
      })
    case 'unregistered':
    case 'unrequested':
      return say(`remedy/${remedy}`, { command: `relay orders erase ${ORDER}${flags}` })
    case 'unrecorded':
      return say('remedy/unrecorded')
    case 'lost-delivery':
      return say('remedy/lost-delivery', { command: `relay orders check ${ORDER}${flags}` })
    case 'lost-request':
      return say('remedy/lost-request', { command: `relay orders show ${ORDER}${flags}` })
  }
}

/**
 * What resolves the differences of an audit, once for each kind. Pure.
 *
 * @param since the start of the audit's period
 */
export const remediesOf = (
  { flags }: Pick<Context, 'flags'>,
  differences: readonly { remedy: Remedy }[],
  since: Date,
): Coded<RemedyCode>[] =>
  [...new Set(differences.map(({ remedy }) => remedy))].map(remedy => remedyOf(remedy, flags, since))
