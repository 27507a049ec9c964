import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'

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
