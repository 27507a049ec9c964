/**
 * Control and format characters, spaces other than U+0020, and all others that have no glyph: with them, different ids
 * would print alike. The exception is U+200C between Arabic letters, where Persian is spelled with it.
 */
const INVISIBLE =
  /(?!(?<=\p{Script=Arabic})\u200c(?=\p{Script=Arabic}))[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]|(?! )\p{Zs}/gu

/** Escapes, as JSON does, characters that are invisible, would control a terminal or split a line. */
export const visible = (text: string): string =>
  text.replace(INVISIBLE, character =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
