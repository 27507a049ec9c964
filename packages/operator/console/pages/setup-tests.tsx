import { STATUSES } from '@order-relay/lib/protocol/status.ts'
import { Field, type FieldProps, Form } from '@order-relay/web/form.tsx'
import type { Values } from '@order-relay/web/form-values.ts'
import { translateMessage } from '@order-relay/web/messages.ts'
import { Chip } from '@order-relay/web/pieces.tsx'
import { linkTo, type Route } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { act, OVERVIEW, type RouteData } from './api.ts'
import { Fields } from './fields.tsx'
import { t } from './persian.ts'
import { Message } from './pieces.tsx'
import { SERVICE, urlField } from './remedies.tsx'

const PASTED = t('Pasting changes line breaks; a file keeps every byte.')

const BODY: FieldProps = {
  name: 'body',
  label: t('Body'),
  kind: 'body',
  help: PASTED,
}

const sending = async ({ text, required, count, base64 }: Values) => {
  const optional = (name: string) => text(name) || undefined
  const optionalCount = (name: string) => (text(name) === '' ? undefined : count(name))
  const body = (await base64('body')) || undefined
  const externalId = body === undefined ? required('externalId') : undefined
  return act('send', {
    url: required('url'),
    source: text('source'),
    externalId,
    body,
    status: STATUSES.find(status => status === text('status')) ?? 'paid',
    error: optional('error'),
    total: count('total'),
    invoiceNumber: count('invoiceNumber'),
    receiptNumber: optionalCount('receiptNumber'),
    returnNumber: optionalCount('returnNumber'),
    event: optional('event'),
    delivery: optional('delivery'),
    age: count('age'),
    wait: count('wait'),
    secret: optional('secret'),
  })
}

const Sent = ({ status, taken, ...sent }: RouteData<'send'>) => (
  <>
    <p class="row">
      <Chip tone={taken ? 'good' : 'bad'}>{String(status)}</Chip>
      {taken && <a href={linkTo(['deliveries', sent.delivery])}>{t('Delivery')}</a>}
    </p>
    <Fields of={sent} />
  </>
)

type TestProps = {
  text: string
  action: string
  submit: (values: Values) => Promise<void>
  result: ComponentChildren
  children: ComponentChildren
}

/** A form with its outcome next to it. */
const Test = ({ text, action, submit, result, children }: TestProps) => (
  <>
    <PageHead />
    <p class="note prose">{text}</p>
    <div class="columns">
      <Form class="card made pairs" action={action} submit={submit}>
        {children}
      </Form>
      <div role="status" class="pairs">
        {result}
      </div>
    </div>
  </>
)

const SendPage = page(
  { title: () => t('Send a test delivery'), reads: () => ({ service: SERVICE, overview: OVERVIEW }) },
  ({ service, overview: { sources } }) => {
    const sent = useSignal<RouteData<'send'> | undefined>(undefined)
    const order: FieldProps[] = [
      { name: 'source', label: t('Store'), options: sources.map(source => [source, source]) },
      { name: 'externalId', label: t('Order number') },
      {
        name: 'status',
        label: t('Status'),
        value: 'paid',
        options: STATUSES.map(status => [status, translateMessage(status)]),
      },
      { name: 'total', label: t('Total, rials'), kind: 'number', value: 1000 },
      { name: 'invoiceNumber', label: t('Invoice number'), kind: 'number', value: 1 },
      { name: 'error', label: t('Reason'), help: t('For an order that needs review.') },
    ]
    const more: FieldProps[] = [
      {
        name: 'receiptNumber',
        label: t('Receipt number'),
        kind: 'number',
        help: t('Empty: the invoice number, if paid.'),
      },
      {
        name: 'returnNumber',
        label: t('Return number'),
        kind: 'number',
        help: t('Empty: the invoice number, if refunded.'),
      },
      { name: 'event', label: t('Event'), value: 'order.updated' },
      { name: 'delivery', label: t('Delivery id'), help: t('Empty: a new one.') },
      { ...BODY, help: t('Replaces all fields above. {help}', { help: PASTED }) },
      urlField(service),
      { name: 'secret', label: t('Secret'), kind: 'secret', help: t('Empty: the stored one.') },
      { name: 'age', label: t('Age of the signature, seconds'), kind: 'number', value: 0 },
      { name: 'wait', label: t('Wait for the order, seconds'), kind: 'number', value: 0 },
    ]
    return (
      <Test
        text={t(
          'Signs a webhook as the accounting service does and sends it. The relay treats it as genuine: it updates the order and notifies the store.',
        )}
        action={t('Send')}
        submit={async values => {
          sent.value = await sending(values)
        }}
        result={sent.value && <Sent {...sent.value} />}
      >
        {order.map(field => (
          <Field key={field.name} {...field} />
        ))}
        <details>
          <summary>{t('More fields')}</summary>
          <div class="pairs">
            {more.map(field => (
              <Field key={field.name} {...field} />
            ))}
          </div>
        </details>
      </Test>
    )
  },
)

const SignaturePage = page({ title: () => t('Explain a signature'), reads: () => ({}) }, () => {
  const found = useSignal<RouteData<'signature'> | undefined>(undefined)
  const explain = async ({ required, text, base64 }: Values) => {
    found.value = await act('signature', {
      signature: required('signature'),
      secret: required('secret'),
      body: await base64('body'),
      receivedAt: text('receivedAt') || undefined,
    })
  }
  const { valid, cause, remedy } = found.value ?? {}
  return (
    <Test
      text={t(
        'Names the cause of a signature that does not verify: a changed body, another form of the secret, a wrong clock. The secret is sent only to the console on this machine and is not stored.',
      )}
      action={t('Explain')}
      submit={explain}
      result={
        cause !== undefined && (
          <div class="card made">
            <Chip tone={valid ? 'good' : 'bad'}>{valid ? t('Valid') : t('Not valid')}</Chip>
            <Message text={cause} as="p" kind="strong breaks note" />
            <Message text={remedy} as="p" kind="breaks remedy" />
          </div>
        )
      }
    >
      <Field name="signature" label="X-Service-Signature" />
      <Field {...BODY} />
      <Field name="secret" label={t('Secret')} kind="secret" />
      <Field
        name="receivedAt"
        label={t('Received')}
        help={t('Such as {example}. Empty: now.', { example: '2026-11-22T08:00:00Z' })}
      />
    </Test>
  )
})

/** Tests of the webhook: send a delivery, or explain a signature. */
export const Tests = ({ route }: { route: Route }) =>
  route.path[1] === 'send' ? <SendPage route={route} /> : <SignaturePage route={route} />
