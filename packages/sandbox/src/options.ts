import { inspect } from 'node:util'
import { isDate } from 'node:util/types'

/** A value that an option takes, and how an error describes it. */
export type Rule = { is: (value: unknown) => boolean; rule: string }

export const PORT_RULE: Rule = {
  is: value => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65535,
  rule: 'a port, 0 to 65535',
}
export const SPEED_RULE: Rule = {
  is: value => Number.isFinite(value) && Number(value) > 0,
  rule: 'a number greater than zero',
}
export const TEXT_RULE: Rule = {
  is: value => typeof value === 'string' && value !== '',
  rule: 'a string that is not empty',
}

export const CLOCK_RULE: Rule = {
  is: value => typeof value === 'function' && isDate(value()),
  rule: 'a function that returns a Date',
}

/** @throws TypeError that names the option, its value and the rule */
export const assertOptions = (options: unknown, rules: Record<string, Rule>) => {
  const fail = (found: string): never => {
    throw new TypeError(`Cannot start the sandbox: ${found}`)
  }
  if (typeof options !== 'object' || options === null) fail('the options must be an object')
  for (const [name, value] of Object.entries(Object(options))) {
    const { is, rule } =
      rules[name] ?? fail(`there is no option "${name}"; the options are ${Object.keys(rules).join(', ')}`)
    if (value !== undefined && !is(value)) fail(`${name} is ${inspect(value)}, and must be ${rule}`)
  }
}
