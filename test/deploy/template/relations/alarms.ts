import { readdirSync, readFileSync } from 'node:fs'
import { labelOf } from '../../../../deploy/alarms.ts'
import { TABLES } from '../../../../lib/platform/names.ts'
import type { Checked } from '../checked.ts'
import { STORES } from '../packaged.ts'
import { ACCOUNT, functionOf, ofType, type Properties, type Resolved, STACK } from '../resolve.ts'

const alarmsOf = (template: Resolved) => ofType(template, 'AWS::CloudWatch::Alarm')

const SIGNS: Readonly<Record<string, string>> = {
  GreaterThanThreshold: '>',
  GreaterThanOrEqualToThreshold: '≥',
  LessThanThreshold: '<',
}

/** A name without its prefix; the alarms of all feeds, new versions or tables share a row. */
const shared = (name: string) =>
  STORES.reduce(
    (text, store) =>
      text.replace(RegExp(`^feed-${labelOf(store)}(?=-age|-dead|-undeleted|\\.fifo)`), 'feed-*store*'),
    name
      .replace(`${STACK}-`, '')
      .replace(/^\w+(?=-new-version$)/, '*function*')
      .replace(RegExp(`^(${Object.values(TABLES).join('|')})(?=-throttles$)`), '*table*'),
  )

const pageOf = ({ AlarmDescription }: Properties) => /docs\/runbook\/(.+)\.md$/.exec(AlarmDescription)?.[1]

/** An alarm as a row of the table in docs/operate.md. */
const rowOf = (alarm: Properties): string => {
  const of = alarm.Dimensions.flatMap(({ Name, Value }) =>
    /^(service|ApiId)$/.test(Name) ? [] : shared(Value),
  )
  const returned = alarm.Metrics.find(({ ReturnData }) => ReturnData)?.Expression
  const single = `${[alarm.MetricName, ...of].join(' of ')}, ${alarm.Statistic || alarm.ExtendedStatistic}`
  const period = alarm.Metrics.find(({ MetricStat }) => MetricStat)?.MetricStat?.Period ?? alarm.Period
  const limit = `${SIGNS[alarm.ComparisonOperator]} ${alarm.Threshold} in ${period / 60} min`
  return `${shared(alarm.AlarmName)}: ${returned ?? single} ${limit}; ${pageOf(alarm)}`
}

const DOCUMENTED = [
  ...readFileSync('docs/operate.md', 'utf8').matchAll(
    /^\| ([\w*-]+) \| [^|]+ \| `([^|]+)` \| \[([\w-]+)\]\(runbook/gm,
  ),
].map(([, name, condition, page]) => `${name}: ${condition}; ${page}`)

/** The table in docs/operate.md has exactly the alarms, and docs/runbook exactly their pages. */
export function* documentedAlarms({ resolved: template }: Checked) {
  const rows = new Set(alarmsOf(template).map(({ Properties }) => rowOf(Properties)))
  for (const row of rows)
    if (!DOCUMENTED.includes(row)) yield `docs/operate.md: write "${row}" into the table of alarms`
  for (const row of DOCUMENTED)
    if (!rows.has(row)) yield `docs/operate.md: no alarm is "${row}"; remove or change its row`
  const pages = readdirSync('docs/runbook').map(file => file.replace(/\.md$/, ''))
  const linked = new Set(alarmsOf(template).map(({ Properties }) => pageOf(Properties)))
  for (const { id, Properties } of alarmsOf(template))
    if (!pages.includes(pageOf(Properties) ?? ''))
      yield `${id}: links to docs/runbook/${pageOf(Properties)}.md, which does not exist; write the page`
  for (const page of pages)
    if (!linked.has(page))
      yield `docs/runbook/${page}.md: no alarm names it; remove the page, or name it in deploy/alarms.ts`
}

/** CloudWatch notifies the topic of every alarm, which its policy and that of its key allow. */
export function* notifications({ resolved: template }: Checked) {
  const topics = ofType(template, 'AWS::SNS::Topic').map(({ arn }) => arn)
  for (const { id, Properties } of alarmsOf(template))
    for (const list of ['AlarmActions', 'OKActions'] as const)
      if (String(Properties[list]) !== String(topics)) yield `${id}: its ${list} are not the topic`
  for (const [type, actions] of [
    ['AWS::SNS::TopicPolicy', ['sns:Publish']] as const,
    ['AWS::KMS::Key', ['kms:Decrypt', 'kms:GenerateDataKey']] as const,
  ])
    for (const { id, Properties } of ofType(template, type)) {
      const statements = (Properties.PolicyDocument ?? Properties.KeyPolicy)?.Statement ?? []
      const admitted = statements.filter(
        ({ Effect, Principal, Condition }) =>
          `${Effect} ${JSON.stringify(Principal)}` === 'Allow {"Service":["cloudwatch.amazonaws.com"]}' &&
          Condition.StringEquals?.['aws:SourceAccount'] === ACCOUNT,
      )
      for (const action of actions)
        if (!admitted.some(({ Action }) => Action.includes(action)))
          yield `${id}: does not allow ${action} to CloudWatch for alarms of this account`
    }
}

/** An alarm reports that a schedule stopped, after a longer time than between two runs. */
export function* schedules({ resolved: template }: Checked) {
  const probe = functionOf(template, 'probe').arn
  for (const { id, Properties } of ofType(template, 'AWS::Events::Rule')) {
    const seconds = Number(/^rate\((\d+) minutes?\)$/.exec(Properties.ScheduleExpression)?.[1]) * 60
    const isWatched = alarmsOf(template).some(
      ({ Properties: { MetricName, Dimensions, TreatMissingData, Period } }) =>
        TreatMissingData === 'breaching' &&
        Period > seconds &&
        Properties.Targets.some(({ Arn }) =>
          MetricName === 'ProbeSeen'
            ? Arn === probe
            : MetricName === 'Invocations' && Arn.endsWith(`:${Dimensions[0]?.Value}`),
        ),
    )
    if (!isWatched)
      yield `${id}: no alarm with missing data as "breaching" and a period above ${seconds} s watches it`
  }
}
