/** Control characters, line separators that JSON does not escape, and text direction overrides. */
const INVISIBLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Escapes, as JSON does, characters that would control a terminal or split a line. */
export const visible = (text: string): string =>
  text.replace(INVISIBLE, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
