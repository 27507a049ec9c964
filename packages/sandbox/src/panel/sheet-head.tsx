import { today } from '@order-relay/web/date-input.tsx'
import { Day, Facts, Name } from '@order-relay/web/pieces.tsx'
import type { ComponentChildren } from 'preact'
import type { SchemaData } from './api.ts'
import { t } from './persian.ts'
import { useRunningHead } from './printed.ts'

export const Period = ({ from, to }: { from: string | undefined; to: string | undefined }) => {
  if (from && from === to) return <Day date={from} />
  if (from && to) return t('{from} to {to}', { from: <Day date={from} />, to: <Day date={to} /> })
  if (from) return t('From {day}', { day: <Day date={from} /> })
  return to ? t('Until {day}', { day: <Day date={to} /> }) : t('All days')
}

/** The name of the chosen value of a filter, if any. */
export const chosen = (
  value: string | undefined,
  options: readonly (readonly [value: string, name: string])[],
) => value && (options.find(([each]) => each === value)?.[1] ?? value)

type SheetProps = {
  title: string
  seller: SchemaData<'Seller'>
  /** The days and the filter. */
  facts: Record<string, ComponentChildren>
  /** The number of printed rows, if the list has more. */
  part: string | false
}

/** The head of a printed list: title, seller and filter. Shown only in print. */
export const SheetHead = ({ title, seller, facts, part }: SheetProps) => {
  useRunningHead(title)
  return (
    <div class="sheet-head">
      <p class="strong">{title}</p>
      <Facts
        facts={{
          [t('Seller')]: seller.name && <Name>{seller.name}</Name>,
          ...facts,
          [t('Printed on')]: <Day date={today()} />,
        }}
      />
      {part && <p class="strong">{part}</p>}
    </div>
  )
}
