import { messageOf } from '@order-relay/web/http.ts'
import { Button, LinkButton } from '@order-relay/web/pieces.tsx'
import { useResources } from '@order-relay/web/resources.ts'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { streams } from './api.ts'
import { type Finding, Findings, problemsText } from './findings.tsx'
import { t } from './persian.ts'
import { changed, changes, Registration, SERVICE } from './remedies.tsx'

/** The findings of the doctor, problems first, as soon as each topic is checked. */
export const Setup = page({ title: () => t('Setup'), reads: () => ({}) }, () => {
  const findings = useSignal<readonly Finding[]>([])
  const progress = useSignal({ done: 0, all: 0 })
  const error = useSignal('')
  const { data } = useResources({ service: SERVICE })
  useEffect(() => {
    const stopping = new AbortController()
    const check = async () => {
      findings.value = []
      error.value = ''
      for await (const { findings: found, ...reached } of streams('setup', {}, stopping.signal)) {
        findings.value = [...findings.value, ...found]
        progress.value = reached
      }
    }
    check().catch(reason => {
      if (!stopping.signal.aborted) error.value = messageOf(reason)
    })
    return () => stopping.abort()
  }, [changes.value])
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
      {data && <Registration {...data.service} />}
      <p role="status" class="note">
        {isDone ? problemsText(findings.value) : t('Checking: {done} of {all} topics', { done, all })}
      </p>
      <p class="error" role="alert">
        {error.value}
      </p>
      <Findings findings={findings.value} />
    </>
  )
})
