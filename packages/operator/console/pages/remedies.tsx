import { ask } from '@order-relay/web/dialog.tsx'
import type { FieldProps } from '@order-relay/web/form.tsx'
import { formatDuration } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { toast } from '@order-relay/web/notices.ts'
import { Button, Facts, Moment, Section } from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { act, type RouteData, reads } from './api.ts'
import { t } from './persian.ts'
import { Job } from './pieces.tsx'

/** Read again when a job or a command changes the registration. */
export const SERVICE = reads('service', {}, 'webhook', 'parameters', 'kept-secrets')

export type Service = RouteData<'service'>

/** Counts actions that affect the doctor's checks. */
export const changes = signal(0)

export const changed = () => {
  changes.value += 1
}

export const urlField = ({ url: value }: Service): FieldProps => ({
  name: 'url',
  label: t('Webhook URL'),
  value,
})

const onOff = (name: string, value: boolean, label: string, help: string): FieldProps => ({
  name,
  label,
  help,
  value,
  kind: 'switch',
})

const seconds = (name: string, value: number, label: string): FieldProps => ({
  name,
  label,
  value,
  kind: 'number',
})

/** Shows the progress of a webhook change, which can also be started from a runbook. */
const started = async (change: Promise<unknown>) => {
  await change
  location.hash = linkTo(['setup'])
}

export const askKey = ({ accountingUrl }: Service) =>
  ask({
    title: t('Set the API key'),
    text: t(
      'It is first checked with a refund of an order that cannot exist. The relay then uses it for {url} within 15 seconds if the service refuses the current key, otherwise within a minute.',
      { url: accountingUrl },
    ),
    fields: [
      { name: 'key', label: t('API key'), kind: 'secret', autofocus: true },
      onOff('unchecked', false, t('Store it unchecked'), t('While the service cannot be reached.')),
    ],
    action: t('Store the key'),
    submit: async ({ required, isOn }) => {
      await act('key', { key: required('key'), check: !isOn('unchecked') })
      toast(
        t(
          'Stored; it is used within 15 seconds if the service refuses the current key, otherwise within a minute.',
        ),
      )
      changed()
    },
  })

export const askRegister = (service: Service, again = false) =>
  ask({
    title: t('Register the webhook'),
    text: t(
      'The accounting service then sends its webhooks to this URL, signed with a new secret that the relay stores. If the URL is already registered, nothing changes unless you register it again.',
    ),
    fields: [
      urlField(service),
      onOff(
        'again',
        again,
        t('Register again'),
        t('For example after it was removed at the service, or registered by hand.'),
      ),
      onOff('check', true, t('Wait until the relay accepts the secret'), t('This takes up to a minute.')),
    ],
    action: t('Register'),
    submit: ({ required, isOn }) =>
      started(act('webhook/register', { url: required('url'), again: isOn('again'), check: isOn('check') })),
  })

/** A rotation or registration was interrupted; while one runs, it deletes the old secret itself. */
const hasOldSecret = ({ secrets, job }: Service) =>
  secrets.length > 1 && !(job !== undefined && job.end === undefined)

/** Undefined while no secret may be deleted. */
export const rotateLabel = (service: Service) => {
  if (!hasOldSecret(service)) return t('Rotate the secret…')
  return service.kept === undefined ? t('Delete the old secret…') : undefined
}

const askDeleteOld = (service: Service) =>
  ask({
    title: t('Delete the old webhook secret'),
    text: t(
      'The new secret is in use. The old one is deleted {period} after the new one was stored: webhooks signed with it may arrive until then.',
      { period: formatDuration(service.rotation.overlap) },
    ),
    fields: [urlField(service)],
    action: t('Delete'),
    submit: ({ required }) =>
      started(act('webhook/rotate', { ...service.rotation, url: required('url'), wait: true })),
  })

const askNewSecret = (service: Service) =>
  ask({
    title: t('Rotate the webhook secret'),
    text: t(
      'The rotation is announced to the relay, the accounting service creates a new secret, both secrets are accepted for a while, and the old one is deleted. No webhook is refused. If interrupted, the next rotation resumes it.',
    ),
    fields: [
      urlField(service),
      seconds('lead', service.rotation.lead, t('Announce, seconds')),
      seconds('overlap', service.rotation.overlap, t('Accept both, seconds')),
      onOff(
        'wait',
        true,
        t('Delete the old secret at the end'),
        t('Otherwise, a later rotation deletes it.'),
      ),
    ],
    action: t('Rotate'),
    submit: ({ required, count, isOn }) =>
      started(
        act('webhook/rotate', {
          url: required('url'),
          wait: isOn('wait'),
          lead: count('lead'),
          overlap: count('overlap'),
        }),
      ),
  })

export const askUnregister = (service: Service) =>
  ask({
    title: t('Unregister the webhook'),
    text: t(
      'The accounting service stops sending webhooks to this URL, and its secrets are deleted. Until it is registered again, the scheduled check finds only changes of unsettled orders.',
    ),
    fields: [urlField(service), { name: 'name', label: t('Type the URL'), autofocus: true }],
    action: t('Unregister'),
    submit: ({ required, text }) =>
      started(act('webhook/unregister', { url: required('url'), name: text('name') })),
  })

export const askIndex = () =>
  ask({
    title: t('Write the index of keys and secrets'),
    text: t(
      'The functions read keys and secrets from an index. It needs to be written only if parameters were changed by hand; no key changes.',
    ),
    action: t('Write the index'),
    submit: async () => {
      await act('stores/index', {})
      toast(t('The index of keys and secrets is written.'))
      changed()
    },
  })

type Revocable = { id: string; name?: string | undefined; only_in_use?: boolean }

export const askRevoke = (source: string, { id, name = id, only_in_use = false }: Revocable) =>
  ask({
    title: t('Revoke key {id}', { id: name }),
    text: only_in_use
      ? t(
          'The store uses this key and no other one with all rights, so it loses its access within a minute. The key cannot be restored.',
        )
      : t('It stops working within a minute, and cannot be restored.'),
    fields: only_in_use ? [{ name: 'name', label: t('Type {name}', { name }), autofocus: true }] : [],
    action: t('Revoke'),
    tone: 'bad',
    submit: async ({ text }) => {
      await act('stores/revoke', { source, id, name: only_in_use ? text('name') : undefined })
      toast(t('Revoked; it stops working within a minute.'))
      changed()
    },
  })

/** Rotates the secret, or deletes the old one after an interruption. */
export const askRotate = (service: Service) =>
  hasOldSecret(service) ? askDeleteOld(service) : askNewSecret(service)

const ACTIONS = [
  [() => t('Set the API key…'), askKey],
  [() => t('Register…'), askRegister],
  [rotateLabel, askRotate],
  [() => t('Unregister…'), askUnregister],
] as const

/** The registration with the accounting service, and its actions. */
export const Registration = (service: Service) => {
  const { url, accountingUrl, hasKey, secrets, job } = service
  const end = job?.end?.at
  const last = useRef(end)
  useEffect(() => {
    if (end !== undefined && end !== last.current) changed()
    last.current = end
  }, [end])
  return (
    <Section
      id="service"
      title={t('Accounting service')}
      aside={
        <span class="row">
          {ACTIONS.map(([labelOf, does]) => {
            const label = labelOf(service)
            return (
              label && (
                <Button key={label} onClick={() => does(service)}>
                  {label}
                </Button>
              )
            )
          })}
        </span>
      }
    >
      {job && <Job job={job} stop={() => act('webhook/stop', {})} />}
      <Facts
        facts={{
          [t('Address')]: <Id value={accountingUrl} />,
          [t('API key')]: hasKey ? t('stored') : t('none'),
          [t('Webhook URL')]: <Id value={url} />,
          [t('Secrets')]:
            secrets.length === 0
              ? t('none')
              : secrets.map(({ id, since }) => (
                  <p key={id}>
                    <Id value={id} longest={28} /> <Moment iso={since} />
                  </p>
                )),
        }}
      />
    </Section>
  )
}
