import { messageOf } from '@order-relay/web/http.ts'
import { Ago, Button, LinkButton } from '@order-relay/web/pieces.tsx'
import { isInFront, useResources } from '@order-relay/web/resources.ts'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { OVERVIEW, reads, streams } from './api.ts'
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
  return { service: data?.service, state: last.current, isChanging }
}

const PARAMETERS = reads('parameters', {}, 'parameters')

/** What the console observes of the checked state: a change of it shows that findings may be outdated. */
const useObserved = () => {
  const { data } = useResources({ overview: OVERVIEW, parameters: PARAMETERS, service: SERVICE })
  const { overview, parameters, service } = data ?? {}
  return overview && JSON.stringify([overview.notices, overview.queues, parameters, service?.kept])
}

/** The checks are repeated this often, since some findings depend on nothing that the console observes, in milliseconds. */
const REPEAT_MS = 60_000

/** A ping that the relay refuses counts as a forgery: more than five in 15 minutes would raise an alarm. */
const AFTER_REFUSAL_MS = 5 * 60_000

const isRefusal = ({ check }: Finding) => typeof check !== 'string' && check.code === 'secret-refused'

// Changes come in bursts, and a check that takes long is repeated less often.
const SPACING_MS = 5000
const REST = 4

/**
 * The findings of the doctor, as soon as each topic is checked. While the page is in front, the checks are repeated: the
 * findings remain until the new ones are complete.
 */
const useChecks = (state: string, isChanging: boolean) => {
  const findings = useSignal<readonly Finding[]>([])
  const progress = useSignal({ done: 0, all: 0 })
  const error = useSignal('')
  const endedAt = useSignal('')
  /** The last check, whether it succeeded or not; undefined while one runs. */
  const last = useSignal<{ at: number; took: number } | undefined>(undefined)
  const observed = useRef<string>(undefined)
  observed.current = useObserved()
  const checked = useRef<string>(undefined)
  checked.current ??= observed.current
  const stopping = useRef(new AbortController())

  const check = async (onProgress?: (found: readonly Finding[], reached: typeof progress.value) => void) => {
    const { signal } = stopping.current
    const from = Date.now()
    last.value = undefined
    checked.current = observed.current
    let found: readonly Finding[] = []
    try {
      for await (const { findings: more, ...reached } of streams('setup', {}, signal)) {
        found = [...found, ...more]
        onProgress?.(found, reached)
      }
      findings.value = found
      progress.value = { ...progress.value, done: progress.value.all }
      error.value = ''
      endedAt.value = new Date().toISOString()
    } catch (reason) {
      if (signal.aborted) return
      error.value = messageOf(reason)
    }
    last.value = { at: Date.now(), took: Date.now() - from }
  }
  useEffect(() => {
    // The first check begins when the registration is read, and one with progress when it changes.
    if (state === '') return
    stopping.current = new AbortController()
    error.value = ''
    endedAt.value = ''
    check((found, reached) => {
      findings.value = found
      progress.value = reached
    })
    return () => stopping.current.abort()
  }, [changes.value, state])
  const isOutdated = observed.current !== checked.current
  useEffect(() => {
    if (last.value === undefined || isChanging || !isInFront.value) return
    const { at, took } = last.value
    const usual = isOutdated ? Math.max(SPACING_MS, REST * took) : REPEAT_MS
    const pause = findings.value.some(isRefusal) ? AFTER_REFUSAL_MS : usual
    const timer = setTimeout(check, Math.max(0, at + pause - Date.now()))
    return () => clearTimeout(timer)
  }, [last.value, isOutdated, isChanging, isInFront.value])
  return { findings: findings.value, progress: progress.value, error: error.value, endedAt: endedAt.value }
}

/** The findings of the doctor, problems first. */
export const Setup = page({ title: () => t('Setup'), reads: () => ({}) }, () => {
  const { service, state, isChanging } = useRegistration()
  const { findings, progress, error, endedAt } = useChecks(state, isChanging)
  const { done, all } = progress
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
        {isDone ? problemsText(findings) : t('Checking: {done} of {all} topics', { done, all })}
      </p>
      {endedAt !== '' && (
        <p class="small muted note">{t('Checked {time}.', { time: <Ago iso={endedAt} /> })}</p>
      )}
      <p class="error" role="alert">
        {error}
      </p>
      <Findings findings={findings} />
    </>
  )
})
