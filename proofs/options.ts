import { Command, InvalidArgumentError } from '@commander-js/extra-typings'

/** A proof with its options; usage errors exit with code 2. */
export const proof = (name: string, description: string) =>
  new Command(`npm run proof -- ${name}`)
    .description(description)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))

/** Parses a number. */
export const upTo =
  (max: number) =>
  (text: string): number => {
    if (/^\d{1,10}(\.\d+)?$/.test(text) && Number(text) <= max) return Number(text)
    throw new InvalidArgumentError(`Use a number up to ${max}.`)
  }

/** Parses a part of a name into the entries whose names contain it, at least one. */
export const partOf =
  <Named extends { name: string }>(all: readonly Named[]) =>
  (text: string): readonly Named[] => {
    const found = all.filter(({ name }) => name.includes(text))
    if (found.length > 0) return found
    const names = all.map(({ name }) => `\n  ${name}`).join('')
    throw new InvalidArgumentError(`Use a part of one of these:${names}`)
  }

export const commaSeparated = (text: string): string[] => text.split(',')

export const say = (line: string): void => void process.stdout.write(`${line}\n`)

export const secondsSince = (began: number): number => Math.round((performance.now() - began) / 100) / 10
