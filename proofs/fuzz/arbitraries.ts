import fc from 'fast-check'

/** Names with a special meaning in JavaScript, paths, SQS or when displayed. */
const LOADED = [
  ...'__proto__ constructor prototype toString hasOwnProperty valueOf NaN null'.split(' '),
  ...'. .. / \\ %2e%2e %00 e\u0301 \u00E9 ١٢٣ 👩‍👩‍👧‍👦 \u202Eevil \u200B <script>alert(1)</script>'.split(
    ' ',
  ),
  ...['', ' ', '\u0000', '\uFFFE', '\uFFFF', '\uD800', '\uDFFF\uD800'],
  ...['x'.repeat(100), 'x'.repeat(101), '𝒳'.repeat(100), "'; DROP TABLE orders; --", '$\u007Bjndi:ldap://x}'],
]

/** Text of every kind: any UTF-16, lone surrogates, and special names. */
export const text = fc.oneof(
  fc.constantFrom(...LOADED),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({
    unit: fc.integer({ min: 0, max: 0xffff }).map(code => String.fromCharCode(code)),
    maxLength: 12,
  }),
)

const numberText = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => JSON.stringify(value)),
  fc.constantFrom(...'0 -0 1e400 -1e-400 9007199254740993 1E+2 0.1 1e308 123456789012345678901'.split(' ')),
)

/** A string as JSON, with each character literal or escaped. */
const stringText = fc
  .tuple(text, fc.boolean())
  .map(([value, escaped]) =>
    escaped
      ? `"${[...Array(value.length).keys()].map(at => `\\u${value.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
      : JSON.stringify(value),
  )

/** Arrays or objects nested to a depth of 1 to 5,000. */
const deepText = fc
  .tuple(fc.constantFrom('[', '{"a":'), fc.integer({ min: 1, max: 5000 }))
  .map(([open, levels]) => `${open.repeat(levels)}1${(open === '[' ? ']' : '}').repeat(levels)}`)

const objectText = (entries: readonly (readonly [string, string])[]): string =>
  `{${entries.map(([key, value]) => `${key}:${value}`).join(',')}}`

/** JSON text, with repeated keys, `__proto__`, and numbers of any form. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    stringText,
    numberText,
    fc.constantFrom('true', 'false', 'null', '{}', '[]'),
    fc.array(tie('value'), { maxLength: 4 }).map(values => `[${values.join(',')}]`),
    fc.array(fc.tuple(stringText, tie('value')), { maxLength: 4 }).map(objectText),
  ),
})).value

/** Occasionally nested deeper than the limit. */
export const anyJsonText = fc.oneof({ weight: 30, arbitrary: jsonText }, { weight: 1, arbitrary: deepText })

/** An object whose fields are mostly as given, sometimes missing or arbitrary, with additional ones. */
export const mostly = (fields: Readonly<Record<string, fc.Arbitrary<string>>>): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.tuple(
        ...Object.entries(fields).map(([name, value]) =>
          fc
            .oneof(
              { weight: 16, arbitrary: value },
              { weight: 1, arbitrary: anyJsonText },
              { weight: 1, arbitrary: fc.constant(undefined) },
            )
            .map(json => (json === undefined ? [] : [[JSON.stringify(name), json] as const])),
        ),
      ),
      fc.array(fc.tuple(stringText, anyJsonText), { maxLength: 2 }),
    )
    .map(([known, others]) => objectText([...known.flat(), ...others]))

/** Mostly the bytes of the text, sometimes damaged in one place or not text at all. */
export const bytesOf = (content: fc.Arbitrary<string>): fc.Arbitrary<Uint8Array> =>
  fc.oneof(
    { weight: 12, arbitrary: content.map(value => Buffer.from(value)) },
    {
      weight: 2,
      arbitrary: fc.tuple(content, fc.nat(), fc.nat(255)).map(([value, at, byte]) => {
        const bytes = Buffer.from(value)
        if (bytes.length > 0) bytes[at % bytes.length] = byte
        return bytes
      }),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }) },
  )

export const uuid = fc.uuid().map(id => JSON.stringify(id))
export const words = (...all: string[]) => fc.constantFrom(...all).map(word => JSON.stringify(word))
export const anyText = text.map(value => JSON.stringify(value))
