import { type ReadonlySignal, signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { type Draft, Field, type FieldProps, Form, type FormProps } from './form.tsx'
import type { Values } from './form-values.ts'
import { t } from './persian.ts'

type Question = {
  title: string | ReadonlySignal<string>
  text?: ComponentChildren
  fields?: readonly FieldProps[]
  /** More content of the form, such as fields that can be added. */
  content?: ComponentChildren
  action: string
  submit: FormProps['submit']
  check?: FormProps['check']
  tone?: FormProps['tone']
  /** Whether something other than the fields has changed. The dialog asks before it discards changes. */
  isEdited?: () => boolean
}

const question = signal<(Question & { id: number }) | undefined>(undefined)
let asked = 0

/** Opens a dialog. Escape closes it, and focus returns to the previous element. */
export const ask = (about: Question) => {
  asked += 1
  question.value = { ...about, id: asked }
}

export const closeDialog = () => document.querySelector('dialog')?.close()

/** The container of dialogs, once per page. */
export const Dialogs = () => question.value && <Dialog key={question.value.id} {...question.value} />

/** The Navigation API. Browsers before 2026 may lack it: there, Back closes a dialog without asking. */
const navigationOf = ({ navigation }: { navigation?: Navigation }) => navigation

/** Asks before the changes in a dialog are discarded. */
const Leave = ({ onStay }: { onStay: () => void }) => {
  const stay = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    const { activeElement } = document
    stay.current?.focus()
    return () => activeElement instanceof HTMLElement && activeElement.focus()
  }, [])
  return (
    <div class="notice" data-tone="wait" role="alertdialog" aria-label={t('Discard your changes?')}>
      <p class="strong">{t('Discard your changes?')}</p>
      <div class="row">
        <button ref={stay} type="button" class="button" onClick={onStay}>
          {t('Keep editing')}
        </button>
        <button type="button" class="button" data-tone="bad" onClick={closeDialog}>
          {t('Discard changes')}
        </button>
      </div>
    </div>
  )
}

const Dialog = ({
  id,
  title,
  text,
  fields = [],
  action,
  tone,
  submit,
  check,
  content,
  isEdited,
}: Question & { id: number }) => {
  const draft = useSignal<Draft>({})
  const isLeaving = useSignal(false)
  const hasChanges = () => Object.keys(draft.value).length > 0 || isEdited?.() === true
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    dialog.current?.showModal()
    // The first field takes focus: below a long text, it would be scrolled into view.
    dialog.current?.querySelector('.asked')?.scrollTo({ top: 0 })
  }, [])
  // Layout effect: with a passive one, the reader could type and press Escape before the guard is in place.
  useLayoutEffect(() => {
    const warn = (event: Event) => hasChanges() && event.preventDefault()
    // Not at the event "cancel": browsers close the dialog at the second Escape in spite of it.
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !hasChanges()) return
      event.preventDefault()
      isLeaving.value = !isLeaving.value
    }
    const onNavigate = (event: NavigateEvent) => {
      // The browser decides when Back can be stopped: not twice without a click or a key in between.
      if (event.navigationType !== 'traverse' || !event.cancelable || !hasChanges()) return
      event.preventDefault()
      isLeaving.value = true
    }
    window.addEventListener('beforeunload', warn)
    window.addEventListener('keydown', onKeyDown)
    navigationOf(window)?.addEventListener('navigate', onNavigate)
    return () => {
      window.removeEventListener('beforeunload', warn)
      window.removeEventListener('keydown', onKeyDown)
      navigationOf(window)?.removeEventListener('navigate', onNavigate)
    }
  }, [])
  // Removed after closing, so that the browser can return the focus; the next dialog may already be open.
  const onClose = () => {
    if (question.value?.id === id) question.value = undefined
  }
  const submitAndClose = async (values: Values) => {
    await submit(values)
    closeDialog()
  }
  const cancel = (
    <button
      type="button"
      class="button"
      onClick={() => {
        if (hasChanges()) isLeaving.value = true
        else closeDialog()
      }}
    >
      {t('Cancel')}
    </button>
  )
  return (
    <dialog
      ref={dialog}
      class={content === undefined ? undefined : 'wide'}
      aria-labelledby="dialog-title"
      onClose={onClose}
    >
      <h2 id="dialog-title">{title}</h2>
      <Form
        action={action}
        tone={tone}
        draft={draft}
        check={check}
        body="asked"
        submit={submitAndClose}
        buttons={cancel}
      >
        {text && <p>{text}</p>}
        <div class="pairs">
          {fields.map(field => (
            <Field key={field.name} {...field} />
          ))}
          {content}
        </div>
      </Form>
      {isLeaving.value && (
        <Leave
          onStay={() => {
            isLeaving.value = false
          }}
        />
      )}
    </dialog>
  )
}
