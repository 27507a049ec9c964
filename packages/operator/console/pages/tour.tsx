import { attempt } from '@order-relay/web/notices.ts'
import { Button, Code, Facts, LinkButton, Name, Section } from '@order-relay/web/pieces.tsx'
import { useResources } from '@order-relay/web/resources.ts'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { StatusChip } from '@order-relay/web/status.tsx'
import { effect, signal } from '@preact/signals'
import { act, ORDER_CHANGES, type RouteData, reads } from './api.ts'
import { OpenRequests, WaitsFor } from './order-pieces.tsx'
import { t } from './persian.ts'
import { linkToOrder } from './pieces.tsx'

const HIDDEN = 'tour.hidden'
const isHidden = signal(localStorage.getItem(HIDDEN) !== null)

const hide = () => {
  localStorage.setItem(HIDDEN, 'yes')
  isHidden.value = true
}

const About = () => (
  <p>
    {t(
      'The relay connects your stores to the accounting service. Stores send it their orders, payments and refunds. It registers each exactly once and notifies the store of the outcome. While the service is down or an accountant has to act, it keeps accepted requests and retries them.',
    )}
  </p>
)

/** An introduction with a link to the tour, shown on the local stack until it is hidden. */
export const TourOffer = () =>
  isHidden.value ? null : (
    <section class="card note" aria-label={t('Tour')}>
      <About />
      <p class="row note">
        <LinkButton href={linkTo(['tour'])}>{t('Take the two-minute tour')}</LinkButton>
        <Button kind="quiet" onClick={hide}>
          {t('Hide')}
        </Button>
      </p>
    </section>
  )

type Step = 'send' | 'outage' | 'review' | 'fix'
type Answer = RouteData<'tour/step'>

type Run = { id: string; answers: Partial<Record<Step, Answer>>; busy?: Step }

const RUN = 'tour.run'

const savedRun = (): Run => {
  const saved = sessionStorage.getItem(RUN)
  return saved === null ? { id: '', answers: {} } : JSON.parse(saved)
}

/** The current run of the tour, which survives visits to other pages and reloads. */
const run = signal(savedRun())

effect(() => {
  const { busy: _, ...saved } = run.value
  sessionStorage.setItem(RUN, JSON.stringify(saved))
})

/** Starts another run with new orders. */
const restart = () => {
  run.value = { id: `tour-${Date.now().toString(36)}`, answers: {} }
}

/** The orders of a run: the first is sent before the outage, the second needs a review. */
const orderOf = (step: Step) => `${run.value.id}-${step === 'send' || step === 'outage' ? 1 : 2}`

const take = (step: Step) =>
  attempt(async () => {
    if (run.value.id === '') restart()
    run.value = { ...run.value, busy: step }
    try {
      const answer = await act('tour/step', { step, order: orderOf(step) })
      run.value = { id: run.value.id, answers: { ...run.value.answers, [step]: answer } }
    } finally {
      const { busy: _, ...rest } = run.value
      run.value = rest
    }
  })

type Place = RouteData<'tour'>
type Order = RouteData<'order'>

/** Live data of an order of the run, once it has been sent. */
const useOrder = (source: string, order: string, isSent: boolean): Order | undefined => {
  const sent = { order: reads('order', { source, external_id: order }, ...ORDER_CHANGES) }
  return useResources<{ order?: typeof sent.order }>(isSent ? sent : {}).data?.order
}

/** The state of an order, with links to more details. */
const Outcome = ({ panel, order }: { panel: string; order: Order }) => {
  const { source, external_id, status, requests, why } = order
  const open = requests.filter(({ state }) => state === 'waiting' || state === 'held')
  const [link] = why.links
  return (
    <Facts
      facts={{
        [t('Order')]: (
          <>
            <a href={linkToOrder(source, external_id)}>
              <Name>{external_id}</Name>
            </a>{' '}
            <StatusChip status={status} />
          </>
        ),
        [t('Open requests')]: open.length > 0 && <OpenRequests requests={open} />,
        [t('Waits for')]: open.length > 0 && link && <WaitsFor link={link} />,
        [t('Accounting service')]: (
          // Opens a new tab, so that the tour continues in the current one.
          <a
            href={`${panel}/${linkTo(['orders', external_id], { source })}`}
            target="_blank"
            rel="noreferrer"
          >
            {t('Show the order in the panel')}
          </a>
        ),
      }}
    />
  )
}

const isPaid = ({ status }: Order) => status === 'paid'
const isHeld = ({ requests }: Order) => requests.some(({ state }) => state === 'held')

type Text = {
  step: Step
  title: string
  before: string
  action: string
  /** While the action is carried out. @default that it is in progress */
  during?: string
  /** Whether the order has reached the state that `after` describes. */
  isReached: (order: Order) => boolean
  /** What to watch until that state is reached. */
  meanwhile?: string
  after: string
}

/** Two steps with each order. */
const TEXTS: readonly (readonly [Text, Text])[] = [
  [
    {
      step: 'send',
      title: t('Send an order'),
      before: t('A store sends an order for one table, as it would to the accounting service.'),
      action: t('Send the order'),
      isReached: ({ status }) => status !== undefined,
      after: t(
        'The relay queued the order, the service created an invoice, and the store received the answer of the service. A message about the order waits in the queue of the store.',
      ),
    },
    {
      step: 'outage',
      title: t('Cause an outage'),
      before: t('The accounting service fails for 20 seconds, and the store sends a payment.'),
      action: t('Break the service and pay'),
      during: t('The service fails for 20 seconds, and the payment waits…'),
      isReached: isPaid,
      meanwhile: t(
        'The payment is accepted and waits. Once the service answers again, the relay sends it. The store does not have to do anything.',
      ),
      after: t('The service answers again, the relay has sent the payment, and the order is paid.'),
    },
  ],
  [
    {
      step: 'review',
      title: t('Let an accountant decide'),
      before: t('The store sends and pays an order for a chair that is not in stock.'),
      action: t('Order a chair'),
      isReached: order => isHeld(order) || isPaid(order),
      after: t(
        'The service created a draft that an accountant has to review, and holds the payment. It answered the payment with 400, which the relay translated for the store: 202, held.',
      ),
    },
    {
      step: 'fix',
      title: t('Watch the recovery'),
      before: t('The accountant corrects the stock and retries. Do this in the panel or here.'),
      action: t('Correct the stock and retry'),
      isReached: isPaid,
      meanwhile: t('The service finalizes the invoice, registers the payment and sends a signed webhook.'),
      after: t(
        'The service has sent a signed webhook: the order is paid. The relay verified it, and the message for the store is in its queue.',
      ),
    },
  ],
]

type PartProps = { text: Text; order: Order | undefined; panel: string; isNext: boolean; isLast: boolean }

const Part = ({ text, order, panel, isNext, isLast }: PartProps) => {
  const { step, title, before, action, during, isReached, meanwhile, after } = text
  const { answers, busy } = run.value
  const answer = answers[step]
  const isDone = order !== undefined && isReached(order)
  const says = isDone ? after : meanwhile
  return (
    <Section id={step} title={title}>
      <p>{before}</p>
      {busy === step && (
        <p class="note muted" role="status">
          {during ?? t('In progress…')}
        </p>
      )}
      {isNext && answer === undefined && busy === undefined && (
        <p class="note">
          <Button kind="primary" onClick={() => take(step)}>
            {action}
          </Button>
        </p>
      )}
      {(answer || isDone) && (
        <>
          {answer?.answer !== undefined && (
            <p class="note">
              {t('Answer to the store: {answer}', {
                answer: (
                  <Code>
                    {answer.answer} {answer.said}
                  </Code>
                ),
              })}
            </p>
          )}
          {says && <p class="note">{says}</p>}
          {isLast && order && <Outcome panel={panel} order={order} />}
        </>
      )}
    </Section>
  )
}

const End = ({ source, reference }: Omit<Place, 'panel'>) => {
  const [first, second] = (['send', 'review'] as const).map(step => (
    <a key={step} href={linkToOrder(source, orderOf(step))}>
      <Name>{orderOf(step)}</Name>
    </a>
  ))
  const store = (
    <a href={linkTo(['stores', source])}>
      <Name>{source}</Name>
    </a>
  )
  return (
    <>
      <Section id="done" title={t('End of the tour')}>
        <p>
          {t(
            'Both orders are paid exactly once: {first} and {second}. {store} shows how many messages wait in the queue of the store.',
            { first, second, store },
          )}
        </p>
      </Section>
      <Section id="connect" title={t('Connect your own store')}>
        <p>
          {t(
            'Add your store to stores.yml; the running relay applies the change. The page of each store has its keys and the code that receives its messages. docs/integrate.md describes every step.',
          )}
        </p>
        <p class="row note">
          <LinkButton href={linkTo(['stores'])}>{t('Stores')}</LinkButton>
          <a class="button" href={reference} target="_blank" rel="noreferrer">
            {t('API reference')}
          </a>
        </p>
      </Section>
    </>
  )
}

const Steps = ({ source, panel, reference }: Place) => {
  const { answers } = run.value
  const orders = [
    useOrder(source, orderOf('send'), answers.send !== undefined),
    useOrder(source, orderOf('review'), answers.review !== undefined),
  ]
  const isDone = ({ isReached }: Text, order: Order | undefined) => order !== undefined && isReached(order)
  const parts = TEXTS.flatMap((pair, index) => pair.map(text => ({ text, order: orders[index] })))
  const next = parts.find(({ text, order }) => !isDone(text, order))?.text
  return (
    <>
      {parts.map(({ text, order }, index) => (
        <Part
          key={text.step}
          text={text}
          order={order}
          panel={panel}
          isNext={text === next}
          isLast={index % 2 === 1 || answers[parts[index + 1]?.text.step ?? text.step] === undefined}
        />
      ))}
      {next === undefined && <End source={source} reference={reference} />}
    </>
  )
}

/** A guided tour with real orders of the local stack. */
export const Tour = page({ title: () => t('Tour'), reads: () => ({ place: reads('tour') }) }, ({ place }) => (
  <>
    <PageHead>{run.value.answers.send && <Button onClick={restart}>{t('Start again')}</Button>}</PageHead>
    <About />
    <Steps {...place} />
  </>
))
