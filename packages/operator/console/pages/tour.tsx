import { attempt } from '@order-relay/web/notices.ts'
import { Button, Code, Facts, LinkButton, Name, Section } from '@order-relay/web/pieces.tsx'
import { useResources } from '@order-relay/web/resources.ts'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { StatusChip } from '@order-relay/web/status.tsx'
import { signal } from '@preact/signals'
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
      'The relay stands between your stores and the accounting service. Stores send it their orders, payments and refunds; it has each registered exactly once, and tells the store the outcome. While the service is down or an accountant has to act, it keeps what it has accepted, and tries again.',
    )}
  </p>
)

/** The first thing that a newcomer sees on the local stack, until it is hidden. */
export const TourOffer = () =>
  isHidden.value ? null : (
    <section class="card note" aria-label={t('Tour')}>
      <About />
      <p class="row note">
        <LinkButton href={linkTo(['tour'])}>{t('Take the tour, two minutes')}</LinkButton>
        <Button kind="quiet" onClick={hide}>
          {t('Hide')}
        </Button>
      </p>
    </section>
  )

type Step = 'send' | 'outage' | 'review' | 'fix'
type Answer = RouteData<'tour/step'>

/** The run of the tour: it is kept while other pages are visited. */
const run = signal<{ id: string; answers: Partial<Record<Step, Answer>>; busy?: Step }>({
  id: '',
  answers: {},
})

const restart = () => {
  run.value = { id: `tour-${Date.now().toString(36)}`, answers: {} }
}

/** The orders of a run: the first lives through the outage, the second needs a review. */
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

/** What has become of an order, live, and where to see more. */
const Outcome = ({ source, panel, order }: Place & { order: string }) => {
  const { data } = useResources({ order: reads('order', { source, external_id: order }, ...ORDER_CHANGES) })
  const { status, requests = [], why } = data?.order ?? {}
  const open = requests.filter(({ state }) => state === 'waiting' || state === 'held')
  const [link] = why?.links ?? []
  return (
    <Facts
      facts={{
        [t('Order')]: (
          <>
            <a href={linkToOrder(source, order)}>
              <Name>{order}</Name>
            </a>{' '}
            <StatusChip status={status} />
          </>
        ),
        [t('Open requests')]: open.length > 0 && <OpenRequests requests={open} />,
        [t('Waits for')]: link && <WaitsFor link={link} />,
        [t('Accounting service')]: (
          // A new tab, since the run of the tour ends with this one.
          <a href={`${panel}/${linkTo(['orders', order], { source })}`} target="_blank" rel="noreferrer">
            {t('Show the order in the panel')}
          </a>
        ),
      }}
    />
  )
}

/** A step; `follows` is the step before it with the same order. */
type Text = { step: Step; follows?: Step; title: string; before: string; action: string; after: string }

const TEXTS: readonly Text[] = [
  {
    step: 'send',
    title: t('Send an order'),
    before: t('A store sends an order of one table, as it would to the accounting service.'),
    action: t('Send the order'),
    after: t(
      'The relay queued the order, the service made an invoice, and the store got the answer of the service. A message about it waits in the queue of the store.',
    ),
  },
  {
    ...({ step: 'outage', follows: 'send' } as const),
    title: t('Make trouble'),
    before: t('The accounting service fails for 20 seconds, and just then the store pays.'),
    action: t('Break the service and pay'),
    after: t(
      'The store got 202: the payment is accepted and waits. Watch it here: once the service answers again, the relay sends the payment, and the order is paid. The store does nothing.',
    ),
  },
  {
    step: 'review',
    title: t('Let an accountant decide'),
    before: t('The store sends and pays an order of a chair that is not in stock.'),
    action: t('Order a chair'),
    after: t(
      'The service made a draft that an accountant has to review, and holds the payment. It refused the payment with 400; the relay told the store what that means: 202, held.',
    ),
  },
  {
    ...({ step: 'fix', follows: 'review' } as const),
    title: t('See it heal'),
    before: t('The accountant corrects the stock and retries. Do it in the panel, or here.'),
    action: t('Correct the stock and retry'),
    after: t(
      'The service finalized the invoice, registered the payment and sent a signed webhook. The relay verified it, and the message for the store is in its queue.',
    ),
  },
]

const Part = ({ text, place, isNext }: { text: Text; place: Place; isNext: boolean }) => {
  const { step, title, before, action, after } = text
  const { answers, busy } = run.value
  const answer = answers[step]
  const isFollowed = TEXTS.some(({ step, follows }) => follows === text.step && answers[step] !== undefined)
  return (
    <Section id={step} title={title}>
      <p>{before}</p>
      {busy === step ? (
        <p class="note muted" role="status">
          {t('In progress…')}
        </p>
      ) : (
        answer === undefined &&
        isNext && (
          <p class="note">
            <Button kind="primary" onClick={() => take(step)}>
              {action}
            </Button>
          </p>
        )
      )}
      {answer && (
        <>
          {answer.answer !== undefined && (
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
          <p class="note">{after}</p>
          {!isFollowed && <Outcome {...place} order={orderOf(step)} />}
        </>
      )}
    </Section>
  )
}

/** A guided tour with real orders of the local stack. */
export const Tour = page({ title: () => t('Tour'), reads: () => ({ place: reads('tour') }) }, ({ place }) => {
  const { answers } = run.value
  const next = TEXTS.find(({ step }) => answers[step] === undefined)
  return (
    <>
      <PageHead>{answers.send && <Button onClick={restart}>{t('Start again')}</Button>}</PageHead>
      <About />
      {TEXTS.map(text => (
        <Part key={text.step} {...{ text, place }} isNext={text === next} />
      ))}
      {next === undefined && (
        <Section id="done" title={t('That was the tour')}>
          <p>
            {t('Both orders are paid, once. {store} lists what waits in the queue of the store.', {
              store: (
                <a href={linkTo(['stores', place.source])}>
                  <Name>{place.source}</Name>
                </a>
              ),
            })}
          </p>
        </Section>
      )}
    </>
  )
})
