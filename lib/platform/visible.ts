/** Control characters, line separators that are none to JSON, and overrides of the direction of text. */
const INVISIBLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Escapes, as JSON does, what would act on a terminal or split a line instead of being shown. */
export const visible = (text: string): string =>
  text.replace(INVISIBLE, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
