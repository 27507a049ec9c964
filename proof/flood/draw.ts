import { bodyOf, idOf, KINDS, type Kind, livesOf, mixOf, type Plan, resultOf } from './plan.ts'
import { randomFrom } from './random.ts'

/** Orders that are in the midst of their lives at once. */
const OPEN_ORDERS = 200
/** Answered deliveries from which the duplicates are taken. */
const REMEMBERED = 1000

/** Something to send. Of an order there is never more than one change under way, as with the service. */
export type Job = {
  kind: Kind
  delivery: string
  body: string
  /** To be called when it was answered. */
  answered: () => void
}

type Told = { delivery: string; body: string }

/** Draws what comes next from what is left to send, each as likely as there is much left of it. */
export const drawer = (plan: Plan, now: () => number): (() => Job | undefined) => {
  const random = randomFrom(plan.seed)
  const lives = livesOf(plan)
  const left = mixOf(plan)
  const open: { order: number; step: number }[] = []
  const told: Told[] = []
  let opened = 0
  let toldAll = 0

  const among = <Item>(items: readonly Item[]) => Math.floor(random() * items.length)
  const remember = (one: Told) => {
    told[toldAll++ % REMEMBERED] = one
  }

  const change = (kind: 'first' | 'twin'): Job | undefined => {
    while (open.length < OPEN_ORDERS && opened < lives.length) open.push({ order: opened++, step: 0 })
    const [chosen] = open.splice(among(open), 1)
    if (chosen === undefined) return undefined
    const { order, step } = chosen
    const delivery = idOf(plan, 'change', order, step)
    const body = bodyOf(delivery, resultOf(plan, order, step), now())
    const answered = () => {
      remember({ delivery, body })
      if (step + 1 < (lives[order] ?? 0)) open.push({ order, step: step + 1 })
    }
    left[kind] -= kind === 'twin' ? 2 : 1
    return { kind, delivery, body, answered }
  }

  const duplicate = (): Job | undefined => {
    const again = told[among(told)]
    if (again === undefined) return undefined
    left.duplicate--
    return { kind: 'duplicate', ...again, answered: () => undefined }
  }

  /** Would do harm if it were let in: a refund of an order that is ours. */
  const unwanted = (kind: Exclude<Kind, 'first' | 'twin' | 'duplicate'>): Job => {
    const number = left[kind]--
    const delivery = idOf(plan, kind, number)
    const result = { ...resultOf(plan, Math.floor(random() * opened), 0), status: 'refunded' }
    const data = kind === 'foreign' ? { ...result, source: `not-ours-${number % 7}` } : result
    return { kind, delivery, body: bodyOf(delivery, data, now()), answered: () => undefined }
  }

  const take = (kind: Kind): Job | undefined => {
    if (kind === 'first' || kind === 'twin') return change(kind)
    return kind === 'duplicate' ? duplicate() : unwanted(kind)
  }

  return () => {
    const kinds = KINDS.filter(kind => left[kind] > 0)
    let at = random() * kinds.reduce((sum, kind) => sum + left[kind], 0)
    const drawn = kinds.find(kind => {
      at -= left[kind]
      return at < 0
    })
    // No order may be free, or nothing have been told yet; then something else goes before it.
    const order = drawn === undefined ? [] : [drawn, ...kinds.filter(kind => kind !== drawn)]
    for (const kind of order) {
      const job = take(kind)
      if (job !== undefined) return job
    }
    return undefined
  }
}
