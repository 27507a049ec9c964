/** @import { Child } from './types.d.ts' */

import { Refusal } from './api.js'
import { h } from './dom.js'

/**
 * A labelled control with its explanation and room for what the service says about it.
 *
 * @param {{ id: string, label: string, help?: string, labelHidden?: boolean, kind?: string }} about
 * @param {(attributes: { id: string, 'aria-describedby': string }) => Child} control
 */
export const field = ({ id, label, help, labelHidden, kind = '' }, control) =>
  h(
    'div',
    { class: `field ${kind}`, 'data-key': `field-${id}` },
    h(
      'div',
      { class: 'field-words' },
      h('label', { for: id, class: labelHidden && 'visually-hidden' }, label),
      help !== undefined && h('p', { class: 'help', id: `${id}-help` }, help),
    ),
    h(
      'div',
      { class: 'field-control' },
      control({ id, 'aria-describedby': help === undefined ? `${id}-error` : `${id}-help ${id}-error` }),
      h('p', { class: 'error', id: `${id}-error`, role: 'alert' }),
    ),
  )

/** @param {Element} control */
const clearError = control => {
  const wrapper = control.closest('.field')
  wrapper?.removeAttribute('data-invalid')
  wrapper?.querySelector('.error')?.replaceChildren()
  control.removeAttribute('aria-invalid')
}

/** @param {HTMLFormElement} form */
const clearErrors = form => {
  for (const control of form.querySelectorAll('[aria-invalid]')) clearError(control)
  form.querySelector('.form-error')?.replaceChildren()
}

/**
 * The control a refusal is about: the one with that name, also when the service names a part of it.
 *
 * @param {HTMLFormElement} form
 * @param {string | undefined} about
 */
const controlFor = (form, about) => {
  const first = about?.split(/[.[]/)[0]
  const last = about?.split('.').at(-1)
  return [...form.elements].find(
    control =>
      control.getAttribute('name') === about || [first, last].includes(control.getAttribute('name') ?? ''),
  )
}

/**
 * Shows why the service refused, next to the field it names, or else at the form's end.
 *
 * @param {HTMLFormElement} form
 * @param {unknown} error
 */
const showError = (form, error) => {
  const message = error instanceof Error ? error.message : String(error)
  const control = controlFor(form, error instanceof Refusal ? error.field : undefined)
  const wrapper = control?.closest('.field')
  if (!(control instanceof HTMLElement) || !wrapper) {
    form.querySelector('.form-error')?.replaceChildren(message)
    return
  }
  wrapper.setAttribute('data-invalid', '')
  wrapper.querySelector('.error')?.replaceChildren(message)
  control.setAttribute('aria-invalid', 'true')
  control.addEventListener('input', () => clearError(control), { once: true })
  control.focus()
}

/**
 * Runs what a form is for: errors appear in it, and it cannot be sent twice at once.
 *
 * @param {(form: HTMLFormElement) => Promise<unknown>} submit
 */
export const onSubmit = submit => async (/** @type {Event} */ event) => {
  event.preventDefault()
  const form = /** @type {HTMLFormElement} */ (event.currentTarget)
  if (form.getAttribute('aria-busy') === 'true') return
  clearErrors(form)
  form.setAttribute('aria-busy', 'true')
  try {
    await submit(form)
  } catch (error) {
    showError(form, error)
  } finally {
    form.removeAttribute('aria-busy')
  }
}

/**
 * The text a form holds under a name.
 *
 * @param {HTMLFormElement} form
 * @param {string} key
 */
export const textOf = (form, key) => String(new FormData(form).get(key) ?? '').trim()

/**
 * A number as typed, Persian digits and grouping included; NaN when it is none.
 *
 * @param {HTMLFormElement} form
 * @param {string} key
 */
const numberOf = (form, key) => {
  const latin = textOf(form, key)
    .replace(/[۰-۹]/g, digit => String(digit.charCodeAt(0) - 0x06f0))
    .replace(/[٠-٩]/g, digit => String(digit.charCodeAt(0) - 0x0660))
    .replace(/[,٬\s]/g, '')
    .replace('٫', '.')
  return latin === '' ? Number.NaN : Number(latin)
}

/**
 * A number, or a refusal that names the field.
 *
 * @param {HTMLFormElement} form
 * @param {string} key
 * @param {string} label
 */
export const requireNumber = (form, key, label) => {
  const number = numberOf(form, key)
  if (Number.isFinite(number)) return number
  const typed = textOf(form, key)
  const found = typed === '' ? 'nothing is typed' : `"${typed}" is not a number`
  throw new Refusal({ status: 0, message: `Cannot read ${label}: ${found}`, field: key })
}

/**
 * A text, or a refusal that names the field.
 *
 * @param {HTMLFormElement} form
 * @param {string} key
 * @param {string} label
 */
export const requireText = (form, key, label) => {
  const text = textOf(form, key)
  if (text !== '') return text
  throw new Refusal({ status: 0, message: `Cannot save without ${label}: nothing is typed`, field: key })
}

/**
 * Asks in a dialog: Escape closes it, and focus returns to where it came from.
 *
 * @param {{ title: string, fields: Child[], action: string, submit: (form: HTMLFormElement) => Promise<unknown> }} question
 */
export const ask = ({ title, fields, action, submit }) => {
  const close = () => dialog.close()
  /** @type {HTMLDialogElement} */
  const dialog = h(
    'dialog',
    { class: 'dialog', 'aria-labelledby': 'dialog-title', onclose: () => dialog.remove() },
    h(
      'form',
      {
        novalidate: true,
        onsubmit: onSubmit(async form => {
          await submit(form)
          close()
        }),
      },
      h('h2', { id: 'dialog-title' }, title),
      fields,
      h('p', { class: 'form-error', role: 'alert' }),
      h(
        'div',
        { class: 'actions' },
        h('button', { type: 'submit', class: 'button primary' }, action),
        h('button', { type: 'button', class: 'button', onclick: close }, 'Cancel'),
      ),
    ),
  )
  document.body.append(dialog)
  dialog.showModal()
}
