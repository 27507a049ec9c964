type Value<Code extends string> = string | number | Coded<Code> | { foreign: string }

/** A message with a stable code for translation by the console. `foreign` values are texts of other systems. */
export type Coded<Code extends string = string> = {
  code: Code
  text: string
  values: Readonly<Record<string, Value<Code>>>
}

const wordsOf = (value: Value<string> | undefined): string => {
  // As the console groups the digits of other numbers.
  if (typeof value === 'number') return value.toLocaleString('en')
  if (typeof value !== 'object') return String(value)
  return 'foreign' in value ? value.foreign : value.text
}

/** The text of a message, whether or not it has a code. */
export const textOf = (message: string | Coded): string => wordsOf(message)

type Names<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never

type Values<Text extends string, Code extends string> = [Names<Text>] extends [never]
  ? []
  : [Record<Names<Text>, Value<Code>>]

/** Messages by code, with `{names}` of values. */
export const catalogue = <const Texts extends Readonly<Record<string, string>>>(texts: Texts) => {
  type Code = keyof Texts & string
  return <Own extends Code>(code: Own, ...given: Values<Texts[Own], Code>): Coded<Code> => {
    const [values = {}]: readonly Coded<Code>['values'][] = given
    return { code, values, text: `${texts[code]}`.replace(/\{(\w+)\}/g, (_, name) => wordsOf(values[name])) }
  }
}

/** The `relay` commands that a message names. */
export const commandsIn = ({ values }: Pick<Coded<string>, 'values'>): string[] =>
  Object.values(values).flatMap(value =>
    typeof value === 'string' && value.startsWith('relay ') ? [value] : [],
  )
