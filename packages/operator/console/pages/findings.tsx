import { translateMessage } from '@order-relay/web/messages.ts'
import { Chip } from '@order-relay/web/pieces.tsx'
import { commandsIn, textOf } from '../../core/coded.ts'
import type { RouteData } from './api.ts'
import { ForShell, InConsole } from './commands.tsx'
import { t } from './persian.ts'
import { Message } from './pieces.tsx'

export type Finding = RouteData<'setup'>['findings'][number]

const LEVELS = {
  problem: [t('Problem'), 'bad'],
  note: [t('Note'), 'wait'],
  ok: [t('OK'), 'good'],
} as const

/** @param notJudged the checks without a verdict; if there are any, the text does not say that there are no problems */
export const problemsText = (findings: readonly Finding[], notJudged: readonly string[] = []) => {
  const count = findings.filter(({ level }) => level === 'problem').length
  if (count > 0) return t('{count} {count|problem|problems}', { count })
  const [check] = notJudged
  return check === undefined
    ? t('No problems found.')
    : t('Cannot judge "{check}": see the notes below.', { check: translateMessage(check) })
}

/** Remedies in `serverless.yml` or `stores.yml`, which take effect when the stack is deployed. */
const DEPLOYED: readonly string[] = [
  'raise-ttl',
  'raise-ttl-or-lower-retention',
  'raise-visibility',
  'lower-webhook-timeout',
  'lower-receives',
  'restore-receives',
  'raise-concurrency',
  'subscribe',
  'deploy-again',
  'deploy-stores',
]

/** The console's action for a remedy, or the shell command. */
export const Remedy = ({ remedy }: { remedy: NonNullable<Finding['remedy']> }) => {
  if (typeof remedy === 'string') return <InConsole command={remedy} />
  if (DEPLOYED.includes(remedy.code)) return <ForShell command="npx serverless deploy" />
  if (remedy.code === 'restart') return <ForShell command="npm start" />
  const commands = commandsIn(remedy)
  return (
    commands.length > 0 && (
      <p class="row">
        {commands.map(command => (
          <InConsole key={command} command={command} />
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
