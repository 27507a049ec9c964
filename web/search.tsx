import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { replaceRoute, route } from './route.ts'

const TYPING_MS = 250

type SearchBoxProps = {
  label: string
  placeholder: string
  /** The address of the page with this search. */
  linkOf: (q: string) => string
}

/** Searches by the parameter `q` of the address, which follows once typing pauses. The key `/` leads to it. */
export const SearchBox = ({ label, placeholder, linkOf }: SearchBoxProps) => {
  const typed = useSignal<string | undefined>(undefined)
  useEffect(() => {
    if (typed.value === undefined) return undefined
    const timer = setTimeout(() => {
      replaceRoute(linkOf(typed.value ?? ''))
      typed.value = undefined
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed.value])
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyped =
        event.target instanceof Element && event.target.closest('input, select, textarea, dialog')
      if (event.key !== '/' || isTyped || event.ctrlKey || event.altKey || event.metaKey) return
      event.preventDefault()
      box.current?.select()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return (
    <input
      ref={box}
      aria-keyshortcuts="/"
      {...{ type: 'search', 'aria-label': label, placeholder, dir: 'auto', autocomplete: 'off' }}
      value={typed.value ?? route.value.query.get('q') ?? ''}
      onInput={event => {
        typed.value = event.currentTarget.value
      }}
    />
  )
}
