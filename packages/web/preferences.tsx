import { choices, direction, language } from './language.ts'
import { t } from './persian.ts'

Object.assign(document.documentElement, { lang: language, dir: direction })
document.documentElement.dataset.appearance = choices.appearance.chosen

const LANGUAGES = { en: 'English', fa: 'فارسی' }

type ChoiceProps<Value extends string> = {
  label: string
  of: { chosen: Value; keep: (value: Value) => void }
  names: Readonly<Record<Value, string>>
}

const Choice = <Value extends string>({ label, of: { chosen, keep }, names }: ChoiceProps<Value>) => {
  const choose = (value: Value) => {
    keep(value)
    location.reload()
  }
  return (
    <fieldset>
      <legend class="small muted">{label}</legend>
      <p class="segments">
        {(Object.keys(names) as Value[]).map(value => (
          <button
            type="button"
            key={value}
            lang={value in LANGUAGES ? value : undefined}
            aria-pressed={value === chosen}
            onClick={() => choose(value)}
          >
            {names[value]}
          </button>
        ))}
      </p>
    </fieldset>
  )
}

/** A menu of the reader's preferences. Its button names both languages, for readers of the other one. */
export const Preferences = () => (
  <>
    <button type="button" class="preferences small" popovertarget="preferences">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M12 3a9 9 0 1 0 0 18 9 9 0 1 0 0-18M3 12h18M12 3c5 5 5 13 0 18M12 3c-5 5-5 13 0 18" />
      </svg>
      <span lang="en">English</span> · <span lang="fa">فارسی</span>
      <span class="visually-hidden">, {t('display')}</span>
    </button>
    <div popover id="preferences" class="menu card">
      <Choice label={t('Language')} of={choices.language} names={LANGUAGES} />
      <Choice
        label={t('Digits')}
        of={choices.digits}
        names={{ latn: t('Latin (123)'), arabext: t('Persian (۱۲۳)') }}
      />
      <Choice
        label={t('Calendar')}
        of={choices.calendar}
        names={{ gregory: t('Gregorian'), persian: t('Jalali') }}
      />
      <Choice
        label={t('Appearance')}
        of={choices.appearance}
        names={{ system: t('System'), light: t('Light'), dark: t('Dark') }}
      />
      <p class="small muted">
        {t('Times are in the time zone {zone}.', { zone: Intl.DateTimeFormat().resolvedOptions().timeZone })}
      </p>
    </div>
  </>
)
