import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { replaceRoute, route } from './route.ts'

const TYPING_MS = 100

type SearchBoxProps = {
  label: string
  placeholder: string
  /** The address of the page with this search. */
  linkOf: (q: string) => string
}

/** Searches by the parameter `q` of the address, which follows once typing pauses. */
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
  return (
    <input
      {...{ type: 'search', 'aria-label': label, placeholder, dir: 'auto', autocomplete: 'off' }}
      aria-keyshortcuts="/"
      value={typed.value ?? route.value.query.get('q') ?? ''}
      onInput={event => {
        typed.value = event.currentTarget.value
      }}
    />
  )
}
