import { ask } from '@order-relay/web/dialog.tsx'
import { type Draft, Field, type FieldProps, Form } from '@order-relay/web/form.tsx'
import type { Values } from '@order-relay/web/form-values.ts'
import { separator } from '@order-relay/web/language.ts'
import { attempt, toast } from '@order-relay/web/notices.ts'
import { Button, LinkButton, Moment, Section, Wait } from '@order-relay/web/pieces.tsx'
import { useResources } from '@order-relay/web/resources.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { signal } from '@preact/signals'
import { fault as faultRules } from '../panel-requests.ts'
import { change, FAULTS, type SchemaData, SETTINGS } from './api.ts'
import { issuesOf } from './issues.ts'
import { t } from './persian.ts'

type Fault = SchemaData<'Fault'>

const KINDS: Record<Fault['kind'], string> = {
  reset: t('Down: the connection is reset'),
  slow: t('Slow responses'),
  error: t('Error responses'),
  lose: t('The request is processed, but the response is lost'),
}

const ALL = ['', t('All requests')] as const

const OPERATIONS: Record<NonNullable<Fault['operation']>, string> = {
  createOrder: t('Create an order'),
  readOrder: t('Read an order'),
  registerPayment: t('Register payment'),
  registerRefund: t('Register return'),
  registerWebhook: t('Register an address'),
  removeWebhook: t('Remove an address'),
}

const number = (name: string, label: string, value?: number): FieldProps => ({
  name,
  label,
  kind: 'number',
  ...(value === undefined ? { help: t('Empty: none.') } : { value }),
})

/** The fields of each kind, in addition to the limits. */
const VALUES: Partial<Record<Fault['kind'], readonly FieldProps[]>> = {
  slow: [number('delay', t('Delay in milliseconds'), 3000)],
  error: [number('status', t('Status'), 500), number('retryAfter', t('Retry-After in seconds'))],
}

const LIMITS = [
  { ...number('seconds', t('Duration in seconds'), 60), help: t('Empty: no limit.') },
  { ...number('requests', t('Number of requests')), help: t('Empty: no limit.') },
]

const end = (query: string) => attempt(() => change('DELETE', `faults${query}`))

const Item = ({ fault: { id, kind, operation, until, requests } }: { fault: Fault }) => (
  <li class="row spread">
    <p>
      <strong>{KINDS[kind]}</strong>
      {separator}
      {operation === null ? ALL[1] : OPERATIONS[operation]}
      {requests !== null && `${separator}${t('requests left: {count}', { count: requests })}`}
      {until !== null && (
        <>
          {separator}
          {t('until {time}', { time: <Moment iso={until} /> })} (<Wait until={until} />)
        </>
      )}
      {requests === null && until === null && `${separator}${t('until you end it')}`}
    </p>
    <Button kind="small" label={`${t('End')}: ${KINDS[kind]}`} onClick={() => end(`?id=${id}`)}>
      {t('End')}
    </Button>
  </li>
)

/** Shows the active faults on every page. */
export const ActiveFaults = () => {
  const { data } = useResources({ active: FAULTS })
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

const fieldsOf = (kind: string) => [...(VALUES[kind as Fault['kind']] ?? []), ...LIMITS]

const faultOf = (values: Values) => {
  const [kind, operation] = [values.text('kind'), values.text('operation')]
  const given = fieldsOf(kind).filter(({ name }) => values.text(name) !== '')
  return {
    kind,
    ...(operation !== '' && { operation }),
    ...Object.fromEntries(given.map(({ name }) => [name, values.number(name)])),
  }
}

const check = (values: Values) => issuesOf(faultRules, faultOf(values))

const add = (values: Values) => change('POST', 'faults', faultOf(values))

const FaultForm = () => (
  <Form
    class="card settings sided"
    label={t('Add a fault')}
    action={t('Add fault')}
    submit={add}
    check={check}
    draft={draft}
  >
    <Field name="kind" label={t('Fault')} options={Object.entries(KINDS)} />
    <Field name="operation" label={t('Applies to')} options={[ALL, ...Object.entries(OPERATIONS)]} />
    {fieldsOf(String(draft.value.kind)).map(field => (
      <Field key={field.name} {...field} />
    ))}
  </Form>
)

type Click = {
  label: string
  done: string
  request: Parameters<typeof change>
  /** What is lost. If set, a click asks for confirmation first. */
  loss?: string
}

const clicksOf = ({ automaticFinalization: isOn }: SchemaData<'Settings'>): readonly Click[] => [
  {
    label: t('Create 20 example orders'),
    done: t('20 example orders created'),
    request: ['POST', 'examples', {}],
  },
  {
    label: t('Empty the stock'),
    done: t('No product is in stock'),
    request: ['PUT', 'products', { stock: 0 }],
    loss: t('The stock of every product becomes 0, and its current stock is lost. This cannot be undone.'),
  },
  {
    label: t('Stock 100 of each product'),
    done: t('100 of each product are in stock'),
    request: ['PUT', 'products', { stock: 100 }],
    loss: t('The stock of every product becomes 100, and its current stock is lost. This cannot be undone.'),
  },
  {
    label: isOn ? t('Turn off automatic finalization') : t('Turn on automatic finalization'),
    done: isOn ? t('Orders now wait for review') : t('Invoices are finalized automatically'),
    request: ['PUT', 'settings', { automaticFinalization: !isOn }],
  },
  {
    label: t('Restore the default settings'),
    done: t('The default settings are restored'),
    request: ['DELETE', 'settings', {}],
    loss: t(
      'The connection settings, such as the tax rate and the receiving account, get their default values, and the current ones are lost. This cannot be undone.',
    ),
  },
]

const click = ({ label, done, request, loss }: Click) =>
  loss === undefined
    ? attempt(() => change(...request), done)
    : ask({
        title: t('{action}?', { action: label }),
        action: label,
        tone: 'bad',
        text: loss,
        submit: async () => {
          await change(...request)
          toast(done)
        },
      })

/** Aids for testing a store or the relay: faults, example orders, stock and settings. */
export const Testing = page(
  { title: () => t('Testing'), reads: () => ({ settings: SETTINGS }) },
  ({ settings }) => (
    <>
      <PageHead>
        <LinkButton href="/docs">{t('API reference')}</LinkButton>
      </PageHead>
      <Section id="faults" title={t('Intentional faults')}>
        <p class="muted">
          {t(
            'The order API fails for stores and the relay; this panel keeps working. A restart ends all faults.',
          )}
        </p>
        <FaultForm />
      </Section>
      <Section id="examples" title={t('Orders, stock and settings')}>
        <div class="row">
          {clicksOf(settings).map(each => (
            <Button key={each.label} onClick={() => click(each)}>
              {each.label}
            </Button>
          ))}
        </div>
      </Section>
    </>
  ),
)
