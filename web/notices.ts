import { signal } from '@preact/signals'
import { messageOf } from './http.ts'

type Toast = { text: string; tone: 'bad' | undefined }

const SHOWN_MS = 7000

export const shownToast = signal<Toast | undefined>(undefined)

/** What changed by itself, for screen readers: others see it on the page. */
export const announcement = signal('')

let hiding: ReturnType<typeof setTimeout> | undefined

/** Shows the outcome of what the person just did, until the next page or action. */
export const toast = (text: string, tone?: 'bad') => {
  shownToast.value = { text, tone }
  clearTimeout(hiding)
  hiding = setTimeout(hideToast, SHOWN_MS)
}

export const hideToast = () => {
  shownToast.value = undefined
}

/** What a button does, with a toast that says what came of it. */
export const attempt = async (action: () => Promise<unknown>, done?: string) => {
  try {
    await action()
    if (done !== undefined) toast(done)
  } catch (error) {
    toast(messageOf(error), 'bad')
  }
}
