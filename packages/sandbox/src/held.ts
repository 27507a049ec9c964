type Held = { amount: string | null; whole: unknown }

/**
 * The held payment whose amount the accountant chooses: the one that pays the whole invoice or, without one, the last one that
 * keeps the amount with which it came in.
 */
export const adjustableIn = <Payment extends Held>(held: readonly Payment[]): Payment | undefined =>
  held.find(({ amount }) => amount === null) ?? held.findLast(({ whole }) => Boolean(whole))
