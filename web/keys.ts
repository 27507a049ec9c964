const STEPS: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }

const isTyping = ({ target }: KeyboardEvent) =>
  target instanceof Element && target.closest('input, select, textarea, dialog, [contenteditable]') !== null

/** Follows the keys of every page: `/` searches, and the arrows (or `j` and `k`) go through the rows of a list. */
export const followKeys = () => {
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return
    if (event.key === '/') {
      const search = document.querySelector<HTMLInputElement>('main input[type=search]')
      search?.select()
      search?.focus()
      if (search) event.preventDefault()
      return
    }
    const step = STEPS[event.key]
    if (step === undefined) return
    const rows = [...document.querySelectorAll<HTMLElement>('main .row-link')]
    const at = rows.indexOf(document.activeElement as HTMLElement)
    // Arrows scroll until a row has focus; the letters lead to the first one.
    if (at === -1 && event.key.startsWith('Arrow')) return
    const next = rows[at === -1 ? 0 : at + step]
    next?.focus()
    if (next) event.preventDefault()
  }
  document.addEventListener('keydown', onKey)
  return () => document.removeEventListener('keydown', onKey)
}
