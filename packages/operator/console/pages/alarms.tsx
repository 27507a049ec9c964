import { Chip, Code, type Column, LinkButton, Minute, Name, Table } from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import { activeAlarms } from '../../status/active.ts'
import { recoveredText, saysThatOrdersFail, stateText } from '../../status/recovered.ts'
import { nameOfAlarm } from './alarm-names.ts'
import type { RouteData } from './api.ts'
import { InConsole } from './commands.tsx'
import { t } from './persian.ts'
import { Message } from './pieces.tsx'

type Data = RouteData<'overview'>
type Alarm = Data['alarms'][number]

const STATES = {
  alarm: [t('Alarm'), 'bad'],
  ok: [t('OK'), 'good'],
  unknown: [t('Unknown'), 'undone'],
} as const

export const isActive = ({ state }: Alarm) => state === 'alarm'

const SEVERITIES = {
  critical: [t('Critical'), 'bad'],
  warning: [t('Warning'), 'wait'],
} as const

export const toneOf = ({ severity }: Alarm) => SEVERITIES[severity][1]

const meaningOf = ({ code, summary: text, store = '' }: Alarm) =>
  ({ code: `alarm/${code}`, text, values: { store } }) as const

const runbookOf = ({ page }: Alarm) => linkTo(['runbook', page])

const ALARMS: Column<Alarm>[] = [
  {
    label: t('Alarm'),
    cell: alarm => (
      <>
        <a href={runbookOf(alarm)}>
          <Name>{nameOfAlarm(alarm)}</Name>
        </a>
        <br />
        <span class="small muted">
          <Code>{alarm.name}</Code>
        </span>
      </>
    ),
  },
  { label: t('State'), cell: ({ state }) => <Chip tone={STATES[state][1]}>{STATES[state][0]}</Chip> },
  { label: t('Severity'), cell: ({ severity }) => SEVERITIES[severity][0] },
  { label: t('Meaning'), kind: 'breaks sentences', cell: alarm => <Message text={meaningOf(alarm)} /> },
  { label: t('Since'), cell: ({ since }) => since && <Minute iso={since} /> },
]

/** All alarms, with their states and meanings. */
export const AlarmTable = ({ alarms }: Pick<Data, 'alarms'>) => (
  <Table columns={ALARMS} rows={alarms} keyOf={({ name }) => name} />
)

/** The active alarms, when they started, and what to do about them; before an alarm starts, the failing orders. */
export const Verdict = ({
  alarms,
  problems,
  failing,
  queues,
  signatures,
  newKey,
  answered,
  notices,
}: Data) => {
  const active = activeAlarms(alarms)
  if (problems.length > 0) {
    return (
      <div class="verdict card" data-tone="wait" role="status">
        {problems.map(problem => (
          <Message key={problem} text={problem} as="p" />
        ))}
      </div>
    )
  }
  const failingOrders = failing?.text !== undefined && !saysThatOrdersFail(active) && (
    <div class="verdict card" data-tone="wait">
      <Message text={failing.text} as="p" kind="breaks" />
    </div>
  )
  if (active.length === 0 && failingOrders) return failingOrders
  if (active.length === 0) {
    // "No alarm is active" would contradict a problem shown below it.
    if (notices.some(({ level }) => level === 'problem')) return null
    return (
      <p class="verdict card" data-tone="good">
        {t('No alarm is active.')}
      </p>
    )
  }
  const facts = { failing, queues, signatures: signatures?.recovery, newKey, answered }
  const list = (
    <ul class="verdict card list" data-tone={active.map(toneOf)[0]}>
      {active.map(alarm => (
        <li key={alarm.name} class="row spread">
          <p>
            <strong>
              <Name>{nameOfAlarm(alarm)}</Name>
            </strong>{' '}
            <Chip tone={toneOf(alarm)}>{SEVERITIES[alarm.severity][0]}</Chip>
            <br />
            <Message text={stateText(alarm.code, facts) ?? meaningOf(alarm)} />
            <br />
            <span class="small">
              <Code>{alarm.name}</Code>{' '}
              {alarm.since && t('since {time}', { time: <Minute iso={alarm.since} /> })}
            </span>
          </p>
          <span class="row">
            {alarm.code === 'service-unauthorized' && recoveredText(alarm.code, facts) === undefined && (
              <InConsole command="relay key set" />
            )}
            <LinkButton href={runbookOf(alarm)}>{t('What to do')}</LinkButton>
          </span>
        </li>
      ))}
    </ul>
  )
  return (
    <>
      {list}
      {failingOrders}
    </>
  )
}
