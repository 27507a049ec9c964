import { signal } from '@preact/signals'
import { messageOf } from './http.ts'

type Toast = { text: string; tone: 'bad' | undefined }

const SHOWN_MS = 7000

export const shownToast = signal<Toast | undefined>(undefined)

/** Announces background changes to screen readers; others see them on the page. */
export const announcement = signal('')

let hiding: ReturnType<typeof setTimeout> | undefined

/** Shows the outcome of the user's last action, until the next page or action. */
export const toast = (text: string, tone?: 'bad') => {
  shownToast.value = { text, tone }
  clearTimeout(hiding)
  hiding = setTimeout(hideToast, SHOWN_MS)
}

/** @param text hides only a toast with this text. @default any toast */
export const hideToast = (text = shownToast.value?.text) => {
  if (shownToast.value?.text === text) shownToast.value = undefined
}

/** A button's action, with a toast for its outcome. */
export const attempt = async (action: () => Promise<unknown>, done?: string) => {
  try {
    await action()
    if (done !== undefined) toast(done)
  } catch (error) {
    toast(messageOf(error), 'bad')
  }
}
