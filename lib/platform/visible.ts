/**
 * Control and format characters, noncharacters, spaces other than U+0020, and all others that have no glyph: with them,
 * different ids would print alike. The exception is U+200C where Persian is spelled with it and it is visible: after a
 * letter that would otherwise join the next one.
 */
const INVISIBLE =
  /(?!(?<=[\u0626\u0628\u062a-\u062e\u0633-\u063a\u0641-\u0647\u0649\u064a\u067e\u0686\u06a9\u06af\u06cc])\u200c(?=[\u0622-\u063a\u0641-\u064a\u067e\u0686\u0698\u06a9\u06af\u06cc]))[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Zl}\p{Zp}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]|(?! )\p{Zs}/gu

/** Escapes, as JSON does, characters that are invisible, would control a terminal or split a line. */
export const visible = (text: string): string =>
  text.replace(INVISIBLE, character =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
