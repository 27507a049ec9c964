import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { isNativeError } from 'node:util/types'
import * as v from 'valibot'
import { BUGS } from '../crash/bugs.ts'
import type { Bug } from '../crash/world.ts'
import { KINDS, LINKS } from './faults.ts'
import { lifeOf } from './lives.ts'
import type { Small } from './shrink.ts'

/** What was asked for cannot be done; the message says it all. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const cannot = (option: string, value: string, remedy: string) =>
  new UsageError(`Cannot storm: --${option} is "${value}"; ${remedy}`)

const MOST_ORDERS = 99_999
const STRONGEST = 10

const whole = (option: string, value: string, from: number, to: number): number => {
  if (/^\d{1,10}$/.test(value) && Number(value) >= from && Number(value) <= to) return Number(value)
  throw cannot(option, value, `give a whole number from ${from} to ${to}`)
}

const strengthOf = (value: string): number => {
  if (/^\d{1,2}(\.\d+)?$/.test(value) && Number(value) <= STRONGEST) return Number(value)
  throw cannot('strength', value, `give a number from 0 (no faults) to ${STRONGEST}`)
}

const bugOf = (value: string): { name: string; bug: Bug } => {
  const found = Object.entries(BUGS).filter(([name]) => name.startsWith(value))
  const [first] = found.filter(([name]) => found.length === 1 || name === value)
  if (first !== undefined) return { name: first[0], bug: first[1] }
  const names = Object.keys(BUGS).map(name => `\n  ${name}`)
  throw cannot('bug', value, `give the beginning of one of these, up to where it differs:${names.join('')}`)
}

const smallFile = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    seed: v.number(),
    orders: v.array(v.number()),
    faults: v.array(
      v.object({
        link: v.picklist(LINKS),
        name: v.string(),
        count: v.number(),
        kind: v.picklist(KINDS),
        ms: v.number(),
      }),
    ),
  }),
)

const reasonOf = (error: unknown) => (isNativeError(error) ? error.message : String(error))

const smallFrom = async (file: string): Promise<Small> => {
  const remedy = 'give a file that a storm has written, reports/storm-<seed>.json'
  const text = await readFile(file, 'utf8').catch(error => {
    throw cannot('again', file, `it cannot be read (${reasonOf(error)}): ${remedy}`)
  })
  const read = v.safeParse(smallFile, text)
  if (!read.success)
    throw cannot('again', file, `it is no case of a storm (${read.issues[0].message}): ${remedy}`)
  const { seed, orders, faults } = read.output
  return { lives: orders.map(number => lifeOf(seed, number)), faults }
}

export const toFile = (seed: number, { lives, faults }: Small): string =>
  `${JSON.stringify({ seed, orders: lives.map(({ id }) => Number(id.slice(1))), faults }, null, 2)}\n`

const OPTIONS = {
  orders: { type: 'string', default: '1000' },
  seed: { type: 'string' },
  strength: { type: 'string', default: '1' },
  bug: { type: 'string' },
  again: { type: 'string' },
  quick: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const parsed = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values
  } catch (error) {
    throw new UsageError(`Cannot storm: ${reasonOf(error)}; see --help`)
  }
}

/** @throws UsageError */
export const argumentsFrom = async (args: readonly string[]) => {
  const { orders, seed, strength, bug, again, quick, help } = parsed(args)
  return {
    orders: whole('orders', orders, 1, MOST_ORDERS),
    seed: seed === undefined ? Math.floor(Math.random() * 2 ** 31) : whole('seed', seed, 0, 2 ** 32 - 1),
    strength: strengthOf(strength),
    planted: bug === undefined ? undefined : bugOf(bug),
    again: again === undefined ? undefined : await smallFrom(again),
    quick,
    help,
  }
}
