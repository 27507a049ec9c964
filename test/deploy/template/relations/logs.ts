import * as v from 'valibot'
import type { Checked } from '../checked.ts'
import { ofType, type Resolved } from '../resolve.ts'
import { type Line, runQuery } from './insights.ts'

/** Lambda's own lines in its documented JSON format, which no test can record. */
const LINES_OF_LAMBDA: readonly Line[] = [
  ...['success', 'timeout', 'error', 'failure'].map(status => ({
    '@message': status,
    type: 'platform.report',
    'record.status': status,
    'record.metrics.durationMs': 9,
    'record.metrics.billedDurationMs': 9,
    'record.metrics.initDurationMs': 9,
    'record.metrics.memorySizeMB': 9,
    'record.metrics.maxMemoryUsedMB': 9,
  })),
  // Written by Lambda's Node runtime when a function throws.
  { '@message': 'thrown', level: 'FATAL', errorMessage: 'thrown' },
]

const isFailure = (line: Line) =>
  /^(WARN|ERROR|FATAL)$/.test(String(line.level)) ||
  /^(timeout|error|failure)$/.test(String(line['record.status']))

const VALUES = /([@\w.]+) in (\[[^\]]*\])/g
const PLACEHOLDER = /([@\w.]+) = "[^"]*"/g

/** A query as an operator fills it in for a line. */
const filledIn = (query: string, line: Line) =>
  query.replace(PLACEHOLDER, (_, field: string) => `${field} = "${line[field] ?? 'none'}"`)

/** The problems of a saved query with the lines of the functions' logs. */
function* problemsOf(id: string, query: string, lines: readonly Line[]) {
  for (const [, field = '', list = ''] of query.matchAll(VALUES))
    for (const value of v.parse(v.array(v.string()), JSON.parse(list)))
      if (!lines.some(line => line[field] === value)) yield `${id}: no line has ${field} "${value}"`
  const asked = [...query.matchAll(PLACEHOLDER)].map(([, field = '']) => field)
  for (const field of asked)
    if (!lines.some(line => line[field] !== undefined)) yield `${id}: no line has ${field}`
  const examples =
    asked.length === 0 ? lines.slice(0, 1) : lines.filter(line => asked.some(field => field in line))
  const results = examples.map(line => runQuery(filledIn(query, line), lines))
  const rows = results.flatMap(each => each.rows)
  if (rows.length === 0) yield `${id}: selects no line`
  for (const column of results[0]?.columns ?? [])
    if (!rows.some(row => row[column] !== undefined)) yield `${id}: no line that it selects has ${column}`
  if (!id.startsWith('Errors')) return
  const selected = new Set(rows.map(row => row['@message']))
  for (const line of lines)
    if (isFailure(line) !== selected.has(line['@message']))
      yield `${id}: ${isFailure(line) ? 'misses' : 'selects'} ${line['@message']}`
}

/** Saved queries select recorded lines and show their fields, and `errors` selects every failure. */
export function* queries({ resolved: template, recording }: Checked) {
  const lines = [...recording.lines, ...LINES_OF_LAMBDA].map(
    (line, at): Line => ({ ...line, '@timestamp': at, '@log': 'log' }),
  )
  const logs = ofType(template, 'AWS::Lambda::Function').map(({ name }) => `/aws/lambda/${name}`)
  for (const { id, Properties } of ofType(template, 'AWS::Logs::QueryDefinition')) {
    for (const log of logs) if (!Properties.LogGroupNames.includes(log)) yield `${id}: does not read ${log}`
    try {
      yield* problemsOf(id, Properties.QueryString, lines)
    } catch (error) {
      yield `${id}: ${error instanceof Error ? error.message : error}`
    }
  }
}

/** What may reveal the sender of a request or the order in its path, except the address that a setting adds. */
const PERSONAL = /\$context\.(?:identity(?!\.sourceIp)|path|authorizer)\S*|\$request\.\S*/g

/** The access log has no personal data. */
export function* accessLog({ resolved: template }: Checked) {
  for (const { id, Properties } of ofType(template, 'AWS::ApiGatewayV2::Stage'))
    for (const [variable] of Properties.AccessLogSettings?.Format.matchAll(PERSONAL) ?? [])
      yield `${id}: its access log contains ${variable}, which may be personal data`
}

/** A metric filter reads fields that the access log has, and counts a request that API Gateway refuses. */
export function* metricFilters({ resolved: template }: Checked) {
  const settings = ofType(template, 'AWS::ApiGatewayV2::Stage')[0]?.Properties.AccessLogSettings
  for (const { id, Properties } of ofType(template, 'AWS::Logs::MetricFilter')) {
    if (settings?.DestinationArn !== logOf(template, Properties.LogGroupName))
      yield `${id}: reads ${Properties.LogGroupName}, which is not the log of the API`
    // API Gateway writes a hyphen for values that a refused request lacks.
    const refused = new Map([
      ['route', 'POST /webhook'],
      ['status', '429'],
      ['integrationLatency', '-'],
    ])
    for (const [, field = '', not, value] of Properties.FilterPattern.matchAll(/\$\.(\w+) (!?)= "(.*?)"/g)) {
      if (!settings?.Format.includes(`"${field}":`)) yield `${id}: the access log has no field ${field}`
      else if ((refused.get(field) === value) !== (not === ''))
        yield `${id}: does not count a request that API Gateway refuses, because of ${field}`
    }
  }
}

const logOf = (template: Resolved, name: string) =>
  ofType(template, 'AWS::Logs::LogGroup').find(each => each.name === name)?.arn
