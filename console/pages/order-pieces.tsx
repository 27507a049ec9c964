import { Chip, type Tone } from '../../web/pieces.tsx'
import { t } from './persian.ts'

/** Names of a fixed set, and what the service may add to it as it is. */
export const nameIn = (names: Readonly<Record<string, string>>, word: string) => names[word] ?? word

/** What happens to an order: events of the order queue, requests, and what a chain of waiting is made of. */
export const NAMES: Readonly<Record<string, string>> = {
  create: t('Create'),
  payment: t('Payment'),
  refund: t('Refund'),
  withdrawal: t('Withdrawal'),
  read: t('Read'),
  invoice: t('Invoice'),
  order: t('Order'),
  result: t('Result'),
  'order.updated': t('Webhook'),
  'order.create': t('Create'),
  'order.payment': t('Payment'),
  'order.refund': t('Refund'),
  'order.withdraw': t('Withdrawal'),
  'order.check': t('Check'),
  'order.resend': t('Resend'),
}

const STATES: Readonly<Record<string, readonly [name: string, tone: Tone]>> = {
  waiting: [t('waiting'), 'wait'],
  held: [t('held by the service'), 'wait'],
  registered: [t('registered'), 'good'],
  duplicate: [t('done before'), 'undone'],
  rejected: [t('refused'), 'bad'],
  withdrawn: [t('withdrawn'), 'undone'],
}

type Request = { kind: string; state: string }

export const RequestChip = ({ kind, state }: Request) => {
  const [name, tone] = STATES[state] ?? [state, 'undone']
  return (
    <Chip tone={tone}>
      {nameIn(NAMES, kind)} {name}
    </Chip>
  )
}

export const OpenRequests = ({ requests }: { requests: readonly Request[] }) => (
  <ul>
    {requests.map((request, index) => (
      <li key={String(index)}>
        <RequestChip {...request} />
      </li>
    ))}
  </ul>
)
