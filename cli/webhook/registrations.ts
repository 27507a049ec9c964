import { createHash } from 'node:crypto'
import type { Place } from '../place/place.ts'

/** Where webhook secrets are, below the path of the secrets. */
export const WEBHOOK_SECRETS = 'webhook-secrets'

/** A secret that the service gave for a URL. */
export type Registration = { id: string; secret: string; since: Date }

const beginningOf = (url: string) => `${createHash('sha256').update(url).digest('hex').slice(0, 8)}-`

/** `<beginning of the URL's hash>-<time>`: says which URL a secret is for, and which secret is the newer. */
const idOf = (url: string, at: Date) => `${beginningOf(url)}${at.toISOString().replaceAll(/[-:.]/g, '')}`

/** What `npm start` calls the secret that it gets for the local stack. */
const LOCAL_BEGINNING = 'start-'

/** The secrets that are kept for a URL, the oldest first. */
export const registrationsOf = async ({ parameters, local }: Place, url: string): Promise<Registration[]> =>
  (await parameters.below(WEBHOOK_SECRETS))
    .filter(({ name }) => name.startsWith(beginningOf(url)) || (local && name.startsWith(LOCAL_BEGINNING)))
    .map(({ name, value, modified }) => ({ id: name, secret: value, since: modified }))
    .sort((a, b) => a.since.getTime() - b.since.getTime())

/** Keeps a secret beside those that are there. */
export const keep = async (
  { parameters }: Place,
  url: string,
  secret: string,
  at: Date,
): Promise<Registration> => {
  const id = idOf(url, at)
  await parameters.put(`${WEBHOOK_SECRETS}/${id}`, secret)
  return { id, secret, since: at }
}

export const retire = ({ parameters }: Place, { id }: Registration): Promise<void> =>
  parameters.remove(`${WEBHOOK_SECRETS}/${id}`)
