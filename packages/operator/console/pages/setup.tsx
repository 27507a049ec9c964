import { messageOf } from '@order-relay/web/http.ts'
import { Ago, Button, LinkButton } from '@order-relay/web/pieces.tsx'
import { useResources } from '@order-relay/web/resources.ts'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { streams } from './api.ts'
import { type Finding, Findings, problemsText } from './findings.tsx'
import { t } from './persian.ts'
import { changed, changes, Registration, SERVICE, type Service } from './remedies.tsx'

const stateOf = ({ url, hasKey, secrets }: Service) => JSON.stringify([url, hasKey, secrets])

/** The registration that the page shows. While a job changes it, the previous one: the check follows the end of the job. */
const useRegistration = () => {
  const { data, error } = useResources({ service: SERVICE })
  const last = useRef('')
  const isChanging = data?.service.job !== undefined && data.service.job.end === undefined
  if (data && !(isChanging && last.current)) last.current = stateOf(data.service)
  else if (error) last.current ||= 'unknown'
  return { service: data?.service, state: last.current }
}

/** The findings of the doctor, problems first, as soon as each topic is checked. */
export const Setup = page({ title: () => t('Setup'), reads: () => ({}) }, () => {
  const findings = useSignal<readonly Finding[]>([])
  const progress = useSignal({ done: 0, all: 0 })
  const error = useSignal('')
  const endedAt = useSignal('')
  const { service, state } = useRegistration()
  useEffect(() => {
    // The first check begins when the registration is read, and is repeated when it changes.
    if (state === '') return
    const stopping = new AbortController()
    const check = async () => {
      findings.value = []
      error.value = ''
      endedAt.value = ''
      for await (const { findings: found, ...reached } of streams('setup', {}, stopping.signal)) {
        findings.value = [...findings.value, ...found]
        progress.value = reached
      }
      endedAt.value = new Date().toISOString()
    }
    check().catch(reason => {
      if (!stopping.signal.aborted) error.value = messageOf(reason)
    })
    return () => stopping.abort()
  }, [changes.value, state])
  const { done, all } = progress.value
  const isDone = all > 0 && done === all
  return (
    <>
      <PageHead>
        <span class="row">
          <LinkButton href={linkTo(['setup', 'send'])}>{t('Send a test delivery')}</LinkButton>
          <LinkButton href={linkTo(['setup', 'signature'])}>{t('Explain a signature')}</LinkButton>
          <Button onClick={changed}>{t('Check again')}</Button>
        </span>
      </PageHead>
      {service && <Registration {...service} />}
      <p role="status" class="note">
        {isDone ? problemsText(findings.value) : t('Checking: {done} of {all} topics', { done, all })}
      </p>
      {endedAt.value !== '' && (
        <p class="small muted note">{t('Checked {time}.', { time: <Ago iso={endedAt.value} /> })}</p>
      )}
      <p class="error" role="alert">
        {error.value}
      </p>
      <Findings findings={findings.value} />
    </>
  )
})
