import { signal } from '@preact/signals'
import { type Draft, Field, type FieldProps, Form, type Values } from '../../web/form.tsx'
import { messageOf } from '../../web/http.ts'
import { toast } from '../../web/notices.ts'
import { Button, Moment, Section, Wait } from '../../web/pieces.tsx'
import { PageHead, page } from '../../web/shell.tsx'
import { useSources } from '../../web/sources.ts'
import { type Answer, change, FAULTS, SETTINGS } from './api.ts'
import { t } from './persian.ts'

type Fault = Answer<'Fault'>

const KINDS: Record<Fault['kind'], string> = {
  reset: t('Down: the connection is reset'),
  slow: t('Slow answers'),
  error: t('Answers 500'),
  throttle: t('Too many requests: answers 429'),
  lose: t('The work is done, the answer is lost'),
}

const ALL = ['', t('All requests of stores')] as const

const OPERATIONS: Record<NonNullable<Fault['operation']>, string> = {
  createOrder: t('Create an order'),
  readOrder: t('Read an order'),
  registerPayment: t('Register payment'),
  registerRefund: t('Register return'),
  registerWebhook: t('Register an address'),
  removeWebhook: t('Remove an address'),
}

/** What each kind has besides its limits. */
const VALUES: Partial<Record<Fault['kind'], FieldProps>> = {
  slow: { name: 'delay', label: t('Delay in milliseconds'), kind: 'number', value: 3000 },
  error: { name: 'status', label: t('Status'), kind: 'number', value: 500 },
  throttle: { name: 'retryAfter', label: t('Retry-After in seconds'), kind: 'number', value: 5 },
}

const attempt = async (action: () => Promise<unknown>, done?: string) => {
  try {
    await action()
    if (done !== undefined) toast(done)
  } catch (error) {
    toast(messageOf(error), 'bad')
  }
}

const end = (query: string) => attempt(() => change('DELETE', `faults${query}`))

const Item = ({ fault: { id, kind, operation, until, requests } }: { fault: Fault }) => (
  <li class="row spread">
    <p>
      <strong>{KINDS[kind]}</strong> · {operation === null ? ALL[1] : OPERATIONS[operation]}
      {requests !== null && <> · {t('{count} requests left', { count: requests })}</>}
      {until !== null && (
        <>
          {' '}
          · {t('until {time}', { time: <Moment iso={until} /> })} (<Wait until={until} />)
        </>
      )}
      {requests === null && until === null && <> · {t('until it is ended')}</>}
    </p>
    <Button kind="small" label={`${t('End')}: ${KINDS[kind]}`} onClick={() => end(`?id=${id}`)}>
      {t('End')}
    </Button>
  </li>
)

/** Says on every page that the service fails on purpose, how and until when. */
export const ActiveFaults = () => {
  const { data } = useSources({ active: FAULTS })
  const faults = data?.active.faults ?? []
  if (faults.length === 0) return null
  return (
    <section class="notice faults" data-tone="bad" aria-labelledby="active-faults">
      <h2 id="active-faults">{t('The service fails on purpose')}</h2>
      <ul>
        {faults.map(fault => (
          <Item key={fault.id} fault={fault} />
        ))}
      </ul>
    </section>
  )
}

const draft = signal<Draft>({})

const add = (values: Values) => {
  const kind = values.text('kind') as Fault['kind']
  const given = ['seconds', 'requests', VALUES[kind]?.name].filter(name => name && values.text(name) !== '')
  return change('POST', 'faults', {
    kind,
    ...(values.text('operation') !== '' && { operation: values.text('operation') }),
    ...Object.fromEntries(given.map(name => [name, values.number(String(name))])),
  })
}

const FaultForm = () => {
  const value = VALUES[(draft.value.kind ?? 'reset') as Fault['kind']]
  return (
    <Form
      class="card settings sided"
      label={t('Add a fault')}
      action={t('Add fault')}
      submit={add}
      draft={draft}
    >
      <Field name="kind" label={t('Fault')} options={Object.entries(KINDS)} />
      {value && <Field key={value.name} {...value} />}
      <Field name="operation" label={t('On')} options={[ALL, ...Object.entries(OPERATIONS)]} />
      <Field
        name="seconds"
        label={t('For so many seconds')}
        kind="number"
        value={60}
        help={t('Empty: no limit.')}
      />
      <Field name="requests" label={t('For the next requests')} kind="number" help={t('Empty: no limit.')} />
    </Form>
  )
}

const put = (path: string, body: object, done: string) => () => attempt(() => change('PUT', path, body), done)

/** What helps to test a store or the relay: faults, example orders, stock and settings at a click. */
export const Testing = page(
  { title: () => t('Testing'), reads: () => ({ settings: SETTINGS }) },
  ({ settings: { automaticFinalization, orderPaymentReceivingAccount } }) => (
    <>
      <PageHead title={t('Testing')} />
      <Section id="faults" title={t('Faults on purpose')}>
        <p class="muted">
          {t(
            'The order API fails for stores and the relay; this panel keeps working. A restart ends all faults.',
          )}
        </p>
        <FaultForm />
      </Section>
      <Section id="examples" title={t('Orders, stock and settings')}>
        <div class="row">
          <Button
            onClick={() => attempt(() => change('POST', 'examples', {}), t('20 example orders created'))}
          >
            {t('Create 20 example orders')}
          </Button>
          <Button onClick={put('products', { stock: 0 }, t('No product is in stock'))}>
            {t('Empty the stock')}
          </Button>
          <Button onClick={put('products', { stock: 100 }, t('100 of each product are in stock'))}>
            {t('Stock 100 of each product')}
          </Button>
          <Button
            onClick={put(
              'settings',
              { automaticFinalization: !automaticFinalization },
              automaticFinalization
                ? t('Orders now wait for review')
                : t('Invoices are finalized automatically'),
            )}
          >
            {automaticFinalization
              ? t('Switch automatic finalization off')
              : t('Switch automatic finalization on')}
          </Button>
          {orderPaymentReceivingAccount !== null && (
            <Button
              onClick={put(
                'settings',
                { orderPaymentReceivingAccount: null },
                t('Paid orders now wait for review'),
              )}
            >
              {t('Select no receiving account')}
            </Button>
          )}
        </div>
      </Section>
    </>
  ),
)
