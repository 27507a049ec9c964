import fc from 'fast-check'
import type { Schema } from './document.ts'

/** Boundary values of the fields' rules, tried for all fields. No URL among them reaches another machine. */
const VALUES: readonly unknown[] = [
  ...[null, true, 0, -1, 1, 1.5, 101, [], {}, '', ' ', 'x'.repeat(101), '🛒'.repeat(100), '🛒'.repeat(101)],
  ...'a card cheque 2026-02-28 2026-02-30 2026-1-1 9121112233 +98۹۱۲۱۱۱۲۲۳۳ 0912'.split(' '),
  ...'http://127.0.0.1:9/x HTTPS://127.0.0.1:9 ftp://127.0.0.1:9 127.0.0.1'.split(' '),
  ...[
    'http://a:b@127.0.0.1',
    ' 09121112233 ',
    5e-324,
    -5e-324,
    Number.MAX_VALUE,
    1e21,
    '\u0000',
    '%2F',
    '..',
  ],
]

const numbers = ({ minimum = 0, maximum = 1e6 }: Schema) =>
  fc.oneof(
    fc.constantFrom(1, 1, 1, 2, minimum, maximum, 0.01, 5e-324, 1e40, Number.MAX_VALUE, 9007199254740991),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer({ min: 1, max: 5_000_000 }),
  )

const USUAL: Readonly<Record<string, (schema: Schema) => fc.Arbitrary<unknown>>> = {
  string: ({ pattern }) => {
    const any = fc.oneof(fc.constant('a'), fc.string({ unit: 'binary', maxLength: 8 }))
    // fast-check makes no texts for look-aheads, and a random URL would name another machine.
    if (pattern === undefined || /\(\?|:\/\//.test(pattern)) return any
    return fc.oneof(any, fc.stringMatching(new RegExp(pattern, 'u')))
  },
  number: numbers,
  integer: ({ minimum = 1, maximum = 1e6 }) =>
    fc.integer({ min: minimum, max: Math.min(maximum, minimum + 20) }),
  boolean: () => fc.boolean(),
  null: () => fc.constant(null),
  date: () => fc.constantFrom('2026-02-28', '2026-11-01', '2024-02-29'),
  uri: () => fc.constant('http://127.0.0.1:9/x'),
}

export type ValueOptions = {
  schemas: Readonly<Record<string, Schema>>
  /** Values for parameters and fields by name, which the schemas do not define. */
  known?: Readonly<Record<string, readonly unknown[]>>
}

/** Values that mostly match a schema, with any of the boundary values in any place. */
export const valuesOf = (
  schema: Schema,
  { schemas, known = {} }: ValueOptions,
  name = '',
): fc.Arbitrary<unknown> => {
  const inner = (each: Schema, of = name) => valuesOf(each, { schemas, known }, of)
  const described = (): fc.Arbitrary<unknown> => {
    const { $ref, anyOf, properties, required = [], items, enum: choices } = schema
    if ($ref !== undefined) return inner(schemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {})
    if (anyOf !== undefined) return fc.oneof(...anyOf.map(each => inner(each)))
    if (properties !== undefined) {
      const fields = Object.entries(properties).map(([field, of]) => [field, inner(of, field)] as const)
      const named = fc.record<Record<string, unknown>>(Object.fromEntries(fields), { requiredKeys: required })
      const extra = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 1 })
      return fc.oneof(
        { weight: 9, arbitrary: named },
        { weight: 1, arbitrary: fc.tuple(extra, named).map(([more, given]) => ({ ...more, ...given })) },
      )
    }
    if (items !== undefined) return fc.array(inner(items), { minLength: 1, maxLength: 2 })
    if (choices !== undefined) return fc.constantFrom(...choices)
    const values = known[name] ?? []
    const types = [schema.type ?? 'null'].flat()
    const usual = fc.oneof(
      ...types.map(type => {
        const make = USUAL[type === 'string' ? (schema.format ?? type) : type]
        return make === undefined ? fc.constant(null) : make(schema)
      }),
    )
    return values.length === 0
      ? usual
      : fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: usual })
  }
  return fc.oneof(
    { weight: 24, arbitrary: described() },
    { weight: 1, arbitrary: fc.constantFrom(...VALUES) },
  )
}
