import * as v from 'valibot'

/** A recorded log line as CloudWatch discovers its fields: by path. */
export type Line = Readonly<Record<string, string | number>>

/** The fields of a JSON log line: those of objects by their paths. */
export const fieldsOf = (value: unknown, path = ''): [string, string | number][] => {
  if (typeof value === 'number' || typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object' || value === null) return value === null ? [] : [[path, String(value)]]
  return Object.entries(value).flatMap(([key, each]) => fieldsOf(each, path === '' ? key : `${path}.${key}`))
}

type Row = Record<string, string | number | undefined>

const comparison = /^([@\w.]+) (?:= "([^"]*)"|in (\[[^\]]*\]))$/
const listed = v.pipe(v.string(), v.parseJson(), v.array(v.string()))

/** `and` binds tighter than `or`; the queries have no parentheses. */
const matches = (condition: string, row: Row): boolean =>
  condition.split(' or ').some(part =>
    part.split(' and ').every(term => {
      const [, field = '', equal, list] = comparison.exec(term.trim()) ?? []
      if (field === '') throw new Error(`Cannot evaluate the condition ${term}: it is not known`)
      const wanted = list === undefined ? [equal ?? ''] : v.parse(listed, list)
      return row[field] !== undefined && wanted.includes(String(row[field]))
    }),
  )

const AGGREGATES: Readonly<
  Record<string, (values: readonly (string | number)[]) => string | number | undefined>
> = {
  count: values => values.length,
  max: values => (values.length === 0 ? undefined : Math.max(...values.map(Number))),
  pct: values => [...values].sort((a, b) => Number(a) - Number(b)).at(-1),
  latest: values => values.at(-1),
}

const aggregate = /^(\w+)\(([^,)]+)(?:, ?\d+)?\) as (\w+)$/

const statistics = (text: string, rows: readonly Row[]): Row[] => {
  const [, wanted = '', by = ''] = /^(.*) by (.*)$/s.exec(text) ?? []
  const keys = by.split(/, */)
  const groups = Map.groupBy(rows, row => JSON.stringify(keys.map(key => row[key])))
  return [...groups.values()].map(group => ({
    ...Object.fromEntries(keys.map(key => [key, group[0]?.[key]])),
    ...Object.fromEntries(
      wanted.split(/,\s+(?=\w+\()/).map(term => {
        const [, name = '', field = '', alias = ''] = aggregate.exec(term.trim()) ?? []
        const evaluate = AGGREGATES[name]
        if (evaluate === undefined) throw new Error(`Cannot evaluate ${term}: it is not known`)
        const values = group.flatMap(row => (field === '*' ? 1 : (row[field] ?? [])))
        return [alias, evaluate(values)]
      }),
    ),
  }))
}

/**
 * Runs a query of CloudWatch Logs Insights over log lines: the commands and functions that deploy/queries.ts uses.
 * Returns the selected lines, with all fields, or the rows of statistics.
 *
 * @throws for anything else, which CloudWatch may not know either
 */
export const runQuery = (query: string, lines: readonly Line[]) => {
  let rows: Row[] = lines.map(line => ({ ...line }))
  let shown: string[] | undefined
  for (const command of query.split(/\n?\| /)) {
    const [, name = '', rest = ''] = /^(\w+) (.*)$/s.exec(command.trim()) ?? []
    if (name === 'filter') rows = rows.filter(row => matches(rest, row))
    else if (name === 'stats') rows = statistics(rest, rows)
    else if (name === 'fields') shown = rest.split(/, */)
    else if (name === 'limit') rows = rows.slice(0, Number(rest))
    else if (name === 'sort') {
      const [, field = '', order] = /^([@\w.]+)(?: (asc|desc))?$/.exec(rest) ?? []
      if (rows.length > 0 && !rows.some(row => row[field] !== undefined))
        throw new Error(`Cannot sort by ${field}: no row has it`)
      const sign = order === 'desc' ? -1 : 1
      rows.sort((a, b) => sign * String(a[field]).localeCompare(String(b[field]), 'en', { numeric: true }))
    } else throw new Error(`Cannot run the command ${command}: it is not known`)
  }
  return { rows, columns: shown ?? Object.keys(rows[0] ?? {}) }
}
