import { signal } from '@preact/signals'
import { announcement } from './notices.ts'
import { t } from './persian.ts'

const SHOWN_MS = 2000

/** The text that was just copied. */
export const copied = signal('')

let hiding: ReturnType<typeof setTimeout> | undefined

const show = (text: string) => {
  copied.value = text
  announcement.value = text === '' ? '' : t('Copied')
}

export const copy = async (text: string) => {
  await navigator.clipboard.writeText(text)
  show(text)
  clearTimeout(hiding)
  hiding = setTimeout(() => show(''), SHOWN_MS)
}

/** Shortens a text in the middle, since its end often distinguishes it. */
const middle = (text: string, longest: number) => {
  const characters = [...text]
  if (characters.length <= longest) return text
  const end = Math.floor((longest - 1) / 3)
  return `${characters.slice(0, longest - 1 - end).join('')}…${characters.slice(-end).join('')}`
}

const SHEETS = 'M9 9h11v11H9zM15 9V4H4v11h5'
const CHECK = 'M4 12.5l5 5L20 6.5'

type IdProps = {
  value: string
  /** A link to the identified item; without it, a click copies the identifier. */
  href?: string | undefined
  kind?: string
  /** How many characters are shown. @default 48 of an address, otherwise 18 */
  longest?: number
}

const ADDRESS = /^https?:\/\//

/** An identifier on one line, shortened in the middle. A click copies it in full. */
export const Id = ({ value, href, kind, longest = ADDRESS.test(value) ? 48 : 18 }: IdProps) => {
  const text = (
    <bdi dir="auto" class="code">
      {middle(value, longest)}
    </bdi>
  )
  return (
    <span class="id">
      {href !== undefined && (
        <a href={href} class={kind} title={value}>
          {text}
        </a>
      )}
      <button
        type="button"
        class="copy"
        title={value}
        aria-label={href === undefined ? undefined : t('Copy {text}', { text: value })}
        onClick={() => copy(value)}
      >
        {href === undefined && (
          <>
            {text}
            <span class="visually-hidden">, {t('Copy')}</span>
          </>
        )}
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d={copied.value === value ? CHECK : SHEETS} />
        </svg>
      </button>
    </span>
  )
}
