import type { ComponentChildren } from 'preact'
import { t } from './persian.ts'
import { Chip, type Tone } from './pieces.tsx'

export const STATUS_NAMES = {
  needs_review: t('Needs review'),
  invoiced: t('Invoiced'),
  paid: t('Paid'),
  refunded: t('Refunded'),
} as const

export type Status = keyof typeof STATUS_NAMES

const TONES: Readonly<Record<Status, Tone>> = {
  needs_review: 'wait',
  invoiced: 'open',
  paid: 'good',
  refunded: 'undone',
}

const isKnown = (status: string): status is Status => Object.hasOwn(STATUS_NAMES, status)

type StatusProps = { status: string | undefined; children?: ComponentChildren }

/** The status of an order; an unknown one is shown unchanged. Without one, no result is known: it may be registered. */
export const StatusChip = ({ status = '', children }: StatusProps) => (
  <Chip tone={isKnown(status) ? TONES[status] : 'undone'}>
    {isKnown(status) ? STATUS_NAMES[status] : status || t('No result')} {children}
  </Chip>
)
