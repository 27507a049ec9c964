import { visible } from '@order-relay/lib/platform/visible.ts'
import { Body } from '@order-relay/web/body.tsx'
import { decimal } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { Code, Facts, Moment, Name } from '@order-relay/web/pieces.tsx'
import { StatusChip } from '@order-relay/web/status.tsx'
import type { ComponentChildren } from 'preact'
import { t } from './persian.ts'
import { Message } from './pieces.tsx'

const NAMES: Readonly<Record<string, string>> = {
  id: t('Id'),
  url: t('Address'),
  from: t('Failed in'),
  source: t('Store'),
  external_id: t('Order'),
  event: t('Event'),
  delivery: t('Delivery or request'),
  status: t('Status'),
  status_display: t('Name of the status'),
  error: t('Reason'),
  reason: t('Reason'),
  at: t('Since'),
  deleted_at: t('Deleted by SQS'),
  received_at: t('Received'),
  remembered_until: t('Recognized if repeated, until'),
  forgotten: t('No longer recognized'),
  bytes: t('Size in bytes'),
  readable: t('Can be read now'),
  headers: t('Headers'),
  body: t('Body'),
  superseded_by: t('Superseded by version'),
  cut: t('Shortened'),
  answer: t('Answer'),
  total: t('Total, rials'),
  invoice_number: t('Invoice number'),
  invoice_status: t('Status of the invoice'),
  receipt_number: t('Receipt number'),
  return_number: t('Return number'),
}

/** The display name of a field; fields that the relay does not know keep their names. */
export const fieldName = (name: string) => NAMES[name] ?? visible(name)

const IDS = new Set(['id', 'url', 'source', 'external_id', 'delivery'])

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

const shown = (name: string, value: unknown): ComponentChildren => {
  if (typeof value === 'boolean') return value ? t('Yes') : t('No')
  const text = visible(String(value))
  if (IDS.has(name)) return <Id value={text} longest={40} />
  if (name === 'status') return <StatusChip status={text} />
  if (name === 'event') return <Code>{text}</Code>
  if (INSTANT.test(text)) return <Moment iso={text} />
  return typeof value === 'number' ? decimal(value) : <Message text={text} />
}

/** Whether a value is shown as a separate block. */
const isBlock = (name: string, value: unknown) =>
  name === 'body' || name === 'answer' || typeof value === 'object' || /\n|.{300}/.test(String(value))

const textOf = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value))

/** The fields of a record with their display names. */
export const Fields = ({ of }: { of: object }) => {
  const fields = Object.entries(of).filter(([, value]) => value !== undefined)
  return (
    <div class="card made">
      <Facts
        facts={Object.fromEntries(
          fields
            .filter(([name, value]) => !isBlock(name, value))
            .map(([name, value]) => [fieldName(name), <Name key={name}>{shown(name, value)}</Name>]),
        )}
      />
      {fields
        .filter(([name, value]) => isBlock(name, value))
        .map(([name, value]) => (
          <Body key={name} label={fieldName(name)} text={textOf(value)} visible={visible} />
        ))}
    </div>
  )
}
