import { decimal, formatDate, formatMoment, serial } from './format.ts'
import { isolated, language, listed, shortened } from './language.ts'
import { JOINT } from './service-messages.ts'

type Place = { name: string; isLiteral: boolean }
type Phrase = { shortest: RegExp; longest: RegExp; places: readonly Place[]; persian: string }

const phrases: Phrase[] = []

const PLACE = /\{(=?\w+)\}/g

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/**
 * Registers Persian translations of the service's messages by English templates: `'"{=sku}" needs {needed}'`. Values
 * may be numbers, dates or messages themselves; those with `=` are taken literally. Lists of known messages, with
 * commas, semicolons or full stops between them, are known as well. A template consists of texts of the programs, joined
 * by `~`. A test fails if one of them is no longer in the programs, so that a rewording cannot lose its translation.
 */
export const learnMessages = (persian: Record<string, string>) => {
  for (const [english, text] of Object.entries(persian)) {
    const parts = english.replaceAll(JOINT, '').split(PLACE)
    const places = parts
      .filter((_, index) => index % 2 === 1)
      .map(place => ({ name: place.replace('=', ''), isLiteral: place.startsWith('=') }))
    const patternOf = (literal: string) => {
      const sources = parts.map((part, index) => {
        if (index % 2 === 0) return escaped(part)
        return part.startsWith('=') ? literal : '(.+?)'
      })
      return new RegExp(`^${sources.join('')}$`, 's')
    }
    phrases.push({ shortest: patternOf('(.+?)'), longest: patternOf('(.+)'), places, persian: text })
  }
}

const valueIn = (text: string) => {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return formatDate(text)
  if (/^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(text)) return decimal(text.replaceAll(',', ''))
  return /^-?\d+(\.\d+)?$/.test(text) ? serial(text) : undefined
}

/** Whether every value must be known, or unknown ones stay as they are. */
type Mode = 'strict' | 'loose'

/** Known messages with this text between them. */
const listIn = (text: string, mode: Mode, between: string, persian = between) => {
  const parts = text.split(between)
  if (parts.length === 1) return undefined
  const known = parts.flatMap(part => textIn(part, mode) ?? [])
  return known.length === parts.length ? known.join(persian) : undefined
}

/** Words with commas between them are a list of values. */
const wordsIn = (text: string, mode: Mode) =>
  /^[^\s,]+(, [^\s,]+)+$/.test(text)
    ? listed(text.split(', ').map(value => textIn(value, mode) ?? isolated(value)))
    : undefined

/** The values in a text by their names; undefined if it does not match or, in strict mode, if a value is not known. */
const valuesIn = (text: string, pattern: RegExp, places: readonly Place[], mode: Mode) => {
  const found = pattern.exec(text)
  if (found === null) return undefined
  const values = places.flatMap(({ name, isLiteral }, index) => {
    const value = found[index + 1] ?? ''
    const known = isLiteral ? isolated(value) : (textIn(value, mode) ?? wordsIn(value, mode))
    return known === undefined && mode === 'strict' ? [] : [[name, known ?? isolated(value)]]
  })
  return values.length === places.length ? Object.fromEntries(values) : undefined
}

const phraseIn = (text: string, mode: Mode, match: 'shortest' | 'longest') => {
  for (const { places, persian, ...patterns } of phrases) {
    const values = valuesIn(text, patterns[match], places, mode)
    if (values) return persian.replace(PLACE, (whole, name) => values[name] ?? whole)
  }
  return undefined
}

/** A sentence whose full stop belongs to none of its values. */
const sentenceIn = (text: string) => {
  const sentence = text.endsWith('.') ? textIn(text.slice(0, -1), 'strict') : undefined
  return sentence === undefined ? undefined : `${sentence}.`
}

/** Longer texts were written by people, and searching them for phrases is slow. */
const LONGEST = 1000

const search = (text: string, mode: Mode) =>
  valueIn(text) ??
  // Sentences are split before phrases match, since a value in a phrase could include the next sentence. Lists with
  // commas are split after that, since such a list may be one value.
  listIn(text, mode, '. ') ??
  listIn(text, mode, '; ', '؛ ') ??
  sentenceIn(text) ??
  phraseIn(text, mode, 'shortest') ??
  listIn(text, mode, ', ', '، ') ??
  // A text that someone typed may contain the words that follow it in the phrase.
  phraseIn(text, mode, 'longest')

/** The translations of the parts of the current message, because a part is searched once for each phrase that matches. */
const searched = {
  strict: new Map<string, string | undefined>(),
  loose: new Map<string, string | undefined>(),
}

const textIn = (text: string, mode: Mode): string | undefined => {
  const known = searched[mode]
  if (!known.has(text)) {
    const strict = mode === 'loose' ? textIn(text, 'strict') : undefined
    known.set(text, strict ?? search(text, mode))
  }
  return known.get(text)
}

const translated = (text: string) => {
  searched.strict.clear()
  searched.loose.clear()
  return text.length > LONGEST ? undefined : textIn(text, 'loose')
}

/** A time, unless it is the argument of an option: copied commands must work. */
const INSTANT = /(?<!--[\w-]+ )\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g

/** A text in the reader's calendar and time. */
const localized = (text: string) => shortened(text, LONGEST).replace(INSTANT, formatMoment)

/** Browsers determine direction by the first letter, but a Persian sentence may begin with a Latin name or value. */
const rightToLeft = (persian: string) => persian.replace(/^(?=[\u2068A-Za-z].*[\u0600-\u06ff])/s, '\u200f')

/** A message of the service in the reader's language, calendar and time; unknown messages are returned unchanged. */
export const translateMessage = (message: string) => {
  const persian = language === 'fa' ? translated(message) : undefined
  return localized(persian === undefined ? message : rightToLeft(persian))
}

type Value<Code extends string> = string | number | Coded<Code> | { foreign: string }

/** A message with a stable code. `foreign` values are texts of other systems. */
export type Coded<Code extends string> = {
  code: Code
  text: string
  values: Readonly<Record<string, Value<Code>>>
}

/**
 * A message in the reader's language, calendar and time, by its code.
 *
 * @param visible escapes control characters
 */
export const translateCoded = <Code extends string>(
  { code, text, values }: Coded<Code>,
  persian: Readonly<Record<Code, string>>,
  visible: (text: string) => string,
): string => {
  const shown = (value: Value<Code>) => {
    if (typeof value === 'number') return decimal(value)
    if (typeof value === 'string') return isolated(visible(value))
    if ('code' in value) return filled(value)
    const text = visible(value.foreign)
    return translated(text) ?? isolated(text)
  }
  const filled = ({ code, values }: Coded<Code>): string =>
    persian[code].replace(PLACE, (whole, name) => {
      const value = values[name]
      return value === undefined ? whole : shown(value)
    })
  return localized(language === 'en' ? visible(text) : rightToLeft(filled({ code, text, values })))
}
