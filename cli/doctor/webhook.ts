import type { Place } from '../place/place.ts'
import { isAccepted, ping, type WebhookAnswer } from '../webhook/post.ts'
import { registrationsOf, WEBHOOK_SECRETS } from '../webhook/registrations.ts'
import { type Finding, note, ok, problem } from './finding.ts'

const CHECK = 'the relay accepts what is signed with its webhook secret'

const judge = (answer: WebhookAnswer, id: string, url: string): Finding => {
  if (isAccepted(answer)) return ok(CHECK, `${url} accepts ${id}`)
  return answer.status === 401
    ? problem(
        CHECK,
        `${url} refuses ${id}`,
        'look again in a minute: the relay looks for new secrets once a minute; else its clock is wrong, or the URL is of another relay',
      )
    : problem(CHECK, `${url} answers ${answer.status} to a signed ping`, 'see the log: relay tail')
}

/** The webhook's secrets: there, and accepted by the receiver. */
export const webhook = async (place: Place, url: string): Promise<Finding[]> => {
  const registrations = await registrationsOf(place, url)
  const newest = registrations.at(-1)
  if (newest === undefined) {
    return [
      problem('the webhook is registered', `no secret is kept for ${url}`, `relay register${place.flags}`),
    ]
  }

  const known = new Set(registrations.map(({ id }) => id))
  const others = (await place.parameters.below(WEBHOOK_SECRETS)).filter(({ name }) => !known.has(name))
  return [
    ok('the webhook is registered', `${url}, since ${newest.since.toISOString()}`),
    judge(await ping(url, newest.secret), newest.id, url),
    ...(registrations.length > 1
      ? [
          note(
            'one secret is in use',
            `${registrations.length} are: a rotation is not finished`,
            `relay rotate${place.flags}`,
          ),
        ]
      : []),
    ...(others.length > 0
      ? [
          note(
            'no secret is left over',
            `accepted as well, though not of ${url}: ${others.map(({ name }) => name).join(', ')}`,
            `if they are of an earlier URL: relay unregister --url <that URL>${place.flags}`,
          ),
        ]
      : []),
  ]
}
