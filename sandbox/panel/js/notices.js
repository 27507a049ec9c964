import { byId } from './dom.js'

const SHOWN_MS = 7000

/** @type {ReturnType<typeof setTimeout> | undefined} */
let hiding

/**
 * Tells the outcome of what the person just did: shown for a while, and spoken.
 *
 * @param {string} text
 * @param {'good' | 'bad'} [tone]
 */
export const toast = (text, tone = 'good') => {
  const element = byId('toast')
  element.textContent = text
  element.dataset.tone = tone
  clearTimeout(hiding)
  hiding = setTimeout(() => element.replaceChildren(), SHOWN_MS)
}

/**
 * Tells a screen reader what changed by itself; sighted people see it on the page.
 *
 * @param {string} text
 */
export const announce = text => {
  byId('announcer').textContent = text
}
