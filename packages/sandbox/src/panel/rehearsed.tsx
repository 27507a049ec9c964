import { FormContext, Outcome } from '@order-relay/web/form.tsx'
import { type Values, valuesOf } from '@order-relay/web/form-values.ts'
import { separator } from '@order-relay/web/language.ts'
import { controlOf, inWords, namedProblem } from '@order-relay/web/problems.ts'
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useContext, useLayoutEffect, useRef } from 'preact/hooks'
import { t } from './persian.ts'

const PAUSE_MS = 200

type RehearsedProps = {
  /** Describes the result that the service computes in a dry run. */
  rehearse: (values: Values) => Promise<string>
  /** What the result depends on besides the fields. */
  of?: unknown
  children: ComponentChildren
}

const UNSEEN = t('Nothing has been saved yet: check this result, then confirm it.')

/**
 * Fields of a form, with the result of a dry run next to the submit button. If the result is not visible yet, Enter or
 * a quick click shows it instead of submitting the form.
 */
export const Rehearsed = ({ rehearse, of, children }: RehearsedProps) => {
  const fields = useRef<HTMLDivElement>(null)
  const typed = useSignal(0)
  const preview = useSignal({ text: '', isProblem: false, isUnseen: false })
  const isCurrent = useSignal(false)
  const { draft, problems, busy, confirmation } = useContext(FormContext)
  /** An empty field or choice that nobody has edited is not a mistake before the form is submitted. */
  const isUntouched = (error: unknown, form: HTMLFormElement) => {
    const { field = '' } = inWords(error, form)
    const control = controlOf(form, field)
    const isControl = control instanceof HTMLInputElement || control instanceof HTMLSelectElement
    return draft.peek()[field] === undefined && isControl && control.value === ''
  }
  useLayoutEffect(() => {
    confirmation.current = async values => {
      const text = await rehearse(values)
      const isSeen = text === '' || text === preview.value.text
      if (!isSeen) preview.value = { text, isProblem: false, isUnseen: true }
      return isSeen
    }
  })
  // Layout effect: the cleanup of a passive one waits for the next frame, so that a dry run could follow the submission.
  useLayoutEffect(() => {
    // The submission may have been carried out already, and then a dry run would be refused.
    if (busy.value) return
    const stopping = new AbortController()
    const current = typed.value
    isCurrent.value = false
    const show = (text: string, isProblem = false) => {
      // An effect is not cleaned up before the next rendering, and the fields may have changed since.
      if (stopping.signal.aborted || typed.peek() !== current) return
      const { text: last, isUnseen } = preview.peek()
      preview.value = { text, isProblem, isUnseen: isUnseen && text === last }
      isCurrent.value = true
    }
    const timer = setTimeout(async () => {
      const form = fields.current?.closest('form')
      if (form == null) return
      try {
        show(await rehearse(valuesOf(form)))
      } catch (error) {
        show(isUntouched(error, form) ? '' : namedProblem(error, form), true)
      }
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      stopping.abort()
    }
  }, [typed.value, of, busy.value])
  const { text, isProblem, isUnseen } = preview.value
  // After a submission, the form shows the problem itself.
  const shown = isProblem && problems.value.length > 0 ? '' : text
  return (
    <div
      ref={fields}
      onInput={() => {
        typed.value += 1
      }}
    >
      {children}
      <Outcome isCurrent={isCurrent.value}>{isUnseen ? `${shown}${separator}${UNSEEN}` : shown}</Outcome>
    </div>
  )
}
