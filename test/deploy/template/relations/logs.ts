import * as v from 'valibot'
import type { Checked } from '../checked.ts'
import { ofType, type Resolved } from '../resolve.ts'
import type { Line } from '../use.ts'

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

const TERM = /^(\S+) (?:= "[^"]*"|in (\[.*\]))$/
const listed = v.pipe(v.string(), v.parseJson(), v.array(v.string()))

/** The fields that the filter of a query compares, and the values in a list; an operator fills in the others. */
const termsOf = (query: string) =>
  (/filter (.+)/.exec(query)?.[1] ?? '').split(' or ').map(part =>
    part.split(' and ').map(term => {
      const [, field = '', list] = TERM.exec(term) ?? []
      if (field === '') throw new Error(`Cannot evaluate the condition ${term}: it is not known`)
      return { field, values: list === undefined ? undefined : v.parse(listed, list) }
    }),
  )

const WORDS = /^(fields|filter|sort|limit|stats|count|max|pct|latest|as|by|and|or|in|asc|desc)$/

/** The problems of a saved query with the lines of the functions' logs. */
function* problemsOf(id: string, query: string, lines: readonly Line[]) {
  const terms = termsOf(query)
  for (const { field, values = [] } of terms.flat())
    for (const value of values)
      if (!lines.some(line => line[field] === value)) yield `${id}: no line has ${field} "${value}"`
  const selected = lines.filter(line =>
    terms.some(all =>
      all.every(({ field, values }) => field in line && (values?.includes(String(line[field])) ?? true)),
    ),
  )
  const made = new Set([...query.matchAll(/ as (\w+)/g)].map(([, name = '']) => name))
  for (const field of query.replaceAll(/"[^"]*"/g, '').match(/@?[a-zA-Z][\w.]*/g) ?? [])
    if (!WORDS.test(field) && !made.has(field) && !selected.some(line => field in line))
      yield `${id}: no line that it selects has ${field}`
  if (!id.startsWith('Errors')) return
  for (const line of lines)
    if (isFailure(line) !== selected.includes(line))
      yield `${id}: ${isFailure(line) ? 'misses' : 'selects'} ${line['@message']}`
}

/** Saved queries select recorded lines and show their fields, and `errors` selects every failure. */
export function* queries({ resolved: template, recording }: Checked) {
  const lines = [...recording.lines, ...LINES_OF_LAMBDA].map(
    (line): Line => ({ ...line, '@timestamp': 0, '@log': 'log' }),
  )
  const logs = ofType(template, 'AWS::Lambda::Function').map(({ name }) => `/aws/lambda/${name}`)
  for (const { id, Properties } of ofType(template, 'AWS::Logs::QueryDefinition')) {
    for (const log of logs) if (!Properties.LogGroupNames.includes(log)) yield `${id}: does not read ${log}`
    yield* problemsOf(id, Properties.QueryString, lines)
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
