import { choices } from '@order-relay/web/language.ts'
import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { t } from './persian.ts'

/** What is printed as soon as it is set and rendered; undefined again after printing. */
export const usePrinted = <Printed>() => {
  const printed = useSignal<Printed | undefined>(undefined)
  useLayoutEffect(() => {
    if (printed.value === undefined) return
    const end = () => {
      printed.value = undefined
    }
    window.addEventListener('afterprint', end, { once: true })
    window.print()
  }, [printed.value])
  return printed
}

const { style } = document.documentElement

// A style sheet can neither translate the text nor choose the reader's digits.
const numerals = choices.digits.chosen === 'arabext' ? 'persian' : 'decimal'
const numbered = t('Page {page} of {pages}', { page: '<page>', pages: '<pages>' })
  .split(/<(pages?)>/)
  .map((part, index) => (index % 2 === 0 ? JSON.stringify(part) : `counter(${part}, ${numerals})`))
style.setProperty('--page-number', numbered.join(' '))

/** Prints a name at the top of each page after the first, in browsers that print page margins. */
export const useRunningHead = (name: string) =>
  useLayoutEffect(() => {
    style.setProperty('--running-head', JSON.stringify(name))
    return () => style.removeProperty('--running-head')
  }, [name])
