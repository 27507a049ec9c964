import type { Checked } from '../checked.ts'
import { ofType } from '../resolve.ts'

/** The code uses every key, index, projection and expiry of a table, and no others. */
export function* tables({ resolved: template, recording: { tables: use } }: Checked) {
  const unknown = new Set(use.targets('queried'))
  for (const { name: table, Properties } of ofType(template, 'AWS::DynamoDB::Table')) {
    const { KeySchema, GlobalSecondaryIndexes, TimeToLiveSpecification: expiry } = Properties
    const keys = KeySchema.map(({ AttributeName }) => AttributeName)
    const written = new Set([...use.of('written', table), ...use.of('keys', table)])
    for (const key of use.of('keys', table)) if (!keys.includes(key)) yield `${table}: has no key "${key}"`
    for (const name of [...keys, ...(expiry ? [expiry.AttributeName] : [])])
      if (!written.has(name)) yield `${table}: nothing writes its key or expiry "${name}"`
    for (const { AttributeName: attribute, AttributeType: type } of Properties.AttributeDefinitions) {
      const stored = use.typeOf(table, attribute) ?? type
      if (stored !== type) yield `${table}: the code stores "${attribute}" as ${stored}, not ${type}`
    }
    for (const { IndexName, KeySchema, Projection } of GlobalSecondaryIndexes) {
      const index = `${table}/${IndexName}`
      unknown.delete(index)
      const [queried, read] = [use.of('queried', index), use.of('read', index)]
      const indexed = KeySchema.map(({ AttributeName }) => AttributeName)
      const projected = Projection.NonKeyAttributes
      for (const name of indexed) if (!written.has(name)) yield `${index}: nothing writes its key "${name}"`
      if (!queried.has(indexed[0] ?? '')) yield `${index}: nothing queries it`
      for (const name of queried) if (!indexed.includes(name)) yield `${index}: has no key "${name}"`
      for (const name of read)
        if (![...keys, ...indexed, ...projected].includes(name))
          yield `${index}: does not project "${name}", which the code reads`
      for (const name of Projection.ProjectionType === 'ALL' ? ['ALL'] : projected)
        if (!read.has(name)) yield `${index}: nothing reads its projection "${name}"`
    }
  }
  for (const index of unknown) yield `${index}: is queried and does not exist`
}
