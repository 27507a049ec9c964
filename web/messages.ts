import { decimal, formatDate } from './format.ts'
import { isolated, language } from './language.ts'

type Phrase = { pattern: RegExp; names: readonly string[]; english: string; persian: string }

const phrases: Phrase[] = []

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const PLACE = /\{(\w+)\}/g

/**
 * Teaches the page what its service writes, in Persian by the English templates: `'"{sku}" needs {needed}'`. Values in
 * quotes are taken literally; others may be numbers, dates or messages themselves.
 */
export const learnMessages = (persian: Record<string, string>) => {
  for (const [english, text] of Object.entries(persian)) {
    const parts = english.split(PLACE)
    const pattern = parts.map((part, index) => (index % 2 === 0 ? escaped(part) : '(.+?)')).join('')
    const names = parts.filter((_, index) => index % 2 === 1)
    phrases.push({ pattern: new RegExp(`^${pattern}$`, 's'), names, english, persian: text })
  }
}

const phrased = (text: string) => {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return formatDate(text)
  const inWords = decimal(text)
  return inWords === text ? isolated(translateMessage(text)) : inWords
}

/** What the service wrote, in the reader's language; what the page has not learned stays as it is. */
export const translateMessage = (message: string): string => {
  if (language === 'en') return message
  for (const { pattern, names, english, persian } of phrases) {
    const found = pattern.exec(message)
    if (found === null) continue
    return persian.replace(PLACE, (_, name) => {
      const value = found[names.indexOf(name) + 1] ?? ''
      return english.includes(`"{${name}}"`) ? isolated(value) : phrased(value)
    })
  }
  const parts = message.split(/(?:\. |; |, )/)
  return parts.length > 1 ? parts.map(translateMessage).join('، ') : message
}
