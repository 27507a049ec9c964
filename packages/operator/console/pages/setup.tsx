import { messageOf } from '@order-relay/web/http.ts'
import { Button, Chip, LinkButton } from '@order-relay/web/pieces.tsx'
import { useResources } from '@order-relay/web/resources.ts'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { textOf } from '../../core/coded.ts'
import { type RouteData, streams } from './api.ts'
import { ForShell, InConsole } from './commands.tsx'
import { t } from './persian.ts'
import { Message } from './pieces.tsx'
import { changed, changes, Registration, SERVICE } from './remedies.tsx'

type Finding = RouteData<'setup'>['findings'][number]

const LEVELS = {
  problem: [t('Problem'), 'bad'],
  note: [t('Note'), 'wait'],
  ok: [t('OK'), 'good'],
} as const

export const problemsText = (findings: readonly Finding[]) => {
  const count = findings.filter(({ level }) => level === 'problem').length
  return count === 0 ? t('No problems found.') : t('{count} {count|problem|problems}', { count })
}

/** Remedies in `serverless.yml` or `stores.yml`, which take effect when the stack is deployed. */
const DEPLOYED: readonly string[] = [
  ...['raise-ttl', 'raise-ttl-or-lower-retention', 'raise-visibility', 'lower-webhook-timeout'],
  ...['lower-receives', 'raise-concurrency', 'subscribe', 'deploy-again', 'deploy-stores'],
]

/** The console's action for a remedy, or the shell command. */
const Remedy = ({ remedy }: { remedy: NonNullable<Finding['remedy']> }) => {
  if (typeof remedy === 'string') return <InConsole command={remedy} />
  if (DEPLOYED.includes(remedy.code)) return <ForShell command="npx serverless deploy" />
  if (remedy.code === 'restart') return <ForShell command="npm start" />
  const commands = Object.values(remedy.values).filter(
    value => typeof value === 'string' && value.startsWith('relay '),
  )
  return (
    commands.length > 0 && (
      <p class="row">
        {commands.map(command => (
          <InConsole key={String(command)} command={String(command)} />
        ))}
      </p>
    )
  )
}

const FindingItem = ({ finding: { check, level, found, remedy } }: { finding: Finding }) => (
  <li class="finding">
    <Chip tone={LEVELS[level][1]}>{LEVELS[level][0]}</Chip>
    <div>
      <Message text={check} as="p" kind="strong" />
      <Message text={found} as="p" kind="breaks" />
      {remedy && <Message text={remedy} as="p" kind="breaks remedy" />}
      {remedy && <Remedy remedy={remedy} />}
    </div>
  </li>
)

/** Findings, problems first. */
export const Findings = ({ findings }: { findings: readonly Finding[] }) => {
  const levels = Object.keys(LEVELS)
  const sorted = findings.toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level))
  return (
    sorted.length > 0 && (
      <ul class="card list">
        {sorted.map(finding => (
          <FindingItem key={`${textOf(finding.check)} ${textOf(finding.found)}`} finding={finding} />
        ))}
      </ul>
    )
  )
}

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
