import { visible } from '@order-relay/lib/platform/visible.ts'
import { closeDialog } from '@order-relay/web/dialog.tsx'
import { decimal } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { translateMessage } from '@order-relay/web/messages.ts'
import { Button, Code, type Column, Name, Table } from '@order-relay/web/pieces.tsx'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { StatusChip } from '@order-relay/web/status.tsx'
import { useEffect } from 'preact/hooks'
import { reads } from './api.ts'
import { NAMES, nameIn, RequestChip } from './order-pieces.tsx'
import { t } from './persian.ts'
import { linkToOrder, Message } from './pieces.tsx'
import { ACTIONS, confirm, EventName, headingOf, Named, type Plan, Progress, TONES } from './plans.tsx'

const save = (plan: Plan) => {
  const href = URL.createObjectURL(new Blob([JSON.stringify(plan, null, 2)], { type: 'application/json' }))
  Object.assign(document.createElement('a'), { href, download: `${plan.command}-${plan.plan}.json` }).click()
  URL.revokeObjectURL(href)
}

type Step = Plan['messages'][number]
type Change = NonNullable<Step['predicted']>['changes'][number]

const isState = (field: string) => field === 'status'

/** A value of the order's result before or after the replay. */
const Value = ({ field, value }: { field: string; value: string | undefined }) => {
  if (isState(field)) return <StatusChip status={value} />
  return value === undefined ? t('none') : <Name>{translateMessage(visible(decimal(value)))}</Name>
}

const Difference = ({ of, field, before, after }: Change) => (
  <li>
    {of === 'result' ? (
      <>
        {translateMessage(field)}: <Value field={field} value={before} /> <span class="arrow">→</span>{' '}
        <Value field={field} value={after} />
      </>
    ) : (
      <>
        {before !== undefined && (
          <>
            <RequestChip kind={field} state={before} /> <span class="arrow">→</span>{' '}
          </>
        )}
        <RequestChip kind={field} state={after ?? ''} />
      </>
    )}
  </li>
)

/** The predicted effects of a message: calls, changes of the order, and messages to the store. */
const Effect = ({ does, predicted, deletion }: Step) => {
  if (deletion !== undefined) return <Message text={deletion} as="p" />
  if (predicted === undefined) return does.map(line => <Message key={line} text={line} as="p" />)
  const { calls, changes, publishes, unknown } = predicted
  return (
    <ul>
      {calls.map(({ to, outcome }, index) => (
        <li key={String(index)}>
          {t('Call to the service: {call}', { call: nameIn(NAMES, to) })}: <Message text={outcome} />
        </li>
      ))}
      {changes.map(change => (
        <Difference key={`${change.of} ${change.field} ${change.after}`} {...change} />
      ))}
      {publishes.map(({ event, status }, index) => (
        <li key={String(index)}>
          {t('Message to the store: {event}', { event: <Code>{event}</Code> })}{' '}
          {status !== undefined && <StatusChip status={status} />}
        </li>
      ))}
      {unknown !== undefined && (
        <li>
          {t('The rest cannot be predicted:')} <Message text={unknown} />
        </li>
      )}
      {calls.length + changes.length + publishes.length === 0 && unknown === undefined && (
        <li>{t('Nothing: no call, no change, no message.')}</li>
      )}
    </ul>
  )
}

const STEPS: Column<Step>[] = [
  {
    label: t('Order'),
    kind: 'breaks',
    cell: ({ id, source, external_id }) =>
      source !== undefined && external_id !== undefined ? (
        <>
          <a href={linkToOrder(source, external_id)}>
            <Name>{visible(external_id)}</Name>
          </a>{' '}
          <span class="small muted">
            <Name>{visible(source)}</Name>
          </span>
        </>
      ) : (
        <Id value={id} />
      ),
  },
  { label: t('Event'), cell: message => <EventName {...message} /> },
  { label: t('Cause'), kind: 'breaks sentences', cell: ({ cause }) => <Message text={cause} /> },
  { label: t('Effect'), kind: 'breaks sentences', cell: step => <Effect {...step} /> },
]

/** Maximum number of a plan's messages shown; the file has all of them. */
const SHOWN = 200

export const PlanPage = page(
  {
    title: () => t('Plan'),
    reads: ({ path: [, , plan] }) => ({
      plan: reads('plan', { plan }),
      gone: reads('plan/gone', { plan }, 'messages'),
      progress: reads('operation', {}, 'operation'),
    }),
  },
  ({ plan, gone, progress: { operation } }) => {
    const { create, payment, refund } = plan.calls
    const handled = new Set(gone.ids)
    const left = plan.messages.filter(({ id }) => !handled.has(id))
    const count = plan.messages.length - left.length
    const isRunning = operation !== undefined && operation.end === undefined
    const more = left.length - SHOWN
    const unknown = left.flatMap(({ predicted }) => predicted?.unknown ?? [])
    const isUnknown = unknown.length > 0 && unknown.length === left.length
    // Another tab may carry out a plan while this one asks: what its dialog says is then outdated.
    useEffect(closeDialog, [operation?.plan.plan, operation?.end?.at])
    return (
      <>
        <PageHead title={headingOf(plan)}>
          <p class="row">
            <Button onClick={() => save(plan)}>{t('Download the plan')}</Button>
            {!isRunning && left.length > 0 && (
              <Button kind="primary" tone={TONES[plan.action]} onClick={() => confirm(plan)}>
                {ACTIONS[plan.action]}
              </Button>
            )}
          </p>
        </PageHead>
        {isRunning && <Progress {...operation} />}
        <p class="strong">
          <Named {...plan} />
        </p>
        {plan.action === 'replay' && count === 0 && !isUnknown && (
          <p class="note">
            {t('Calls to the service: create {create}, payment {payment}, refund {refund}', {
              create,
              payment,
              refund,
            })}
          </p>
        )}
        {unknown.length > 0 && (
          <p class="note">
            {t('{count} {count|message|messages} whose calls are unknown:', { count: unknown.length })}{' '}
            <Message text={unknown[0]} />
          </p>
        )}
        {left.length === 0 ? (
          <p class="note">{t('All messages of this plan have been replayed or deleted.')}</p>
        ) : (
          <>
            {count > 0 && <p class="note">{t('{count} {count|was|were} already gone.', { count })}</p>}
            <Table columns={STEPS} rows={left.slice(0, SHOWN)} keyOf={({ id }) => id} />
          </>
        )}
        {more > 0 && <p class="note">{t('and {count} more', { count: more })}</p>}
      </>
    )
  },
)
