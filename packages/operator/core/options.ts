import { createRequire } from 'node:module'
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings'
import { DEFAULT_REGION, DEFAULT_STAGE } from '@order-relay/deploy/cloudformation.ts'
import { secondsOf } from '@order-relay/lib/platform/stores.ts'
import { ADDRESSES, type PortName } from '@order-relay/local/settings.ts'

const { version } = createRequire(import.meta.url)('../../../package.json')

/** The program without its subcommands: the options that all of them share. */
export const program = () =>
  new Command('relay')
    .description('Set up, monitor and repair an order relay, on AWS or on this machine.')
    .option('--local', 'use the local stack (npm start) instead of AWS')
    .option('--stage <name>', `stage of the deployment (default: ${DEFAULT_STAGE})`)
    .option('--region <name>', `AWS region (default: AWS_REGION, else ${DEFAULT_REGION})`)
    .option('--json', 'print one JSON document instead of text')
    .option('--verbose', 'print stack traces of errors')
    .version(`relay ${version}`, '--version', 'print the version')

export type Program = ReturnType<typeof program>
export type SharedOptions = ReturnType<Program['opts']>

/** Parses an option that is a duration, into seconds. */
export const duration = (text: string): number => {
  const seconds = secondsOf(text)
  if (seconds === undefined) throw new InvalidArgumentError('Expected a duration such as 90s, 15m, 2h or 7d.')
  return seconds
}

/** An option that is a duration, into seconds; `more` explains its default. */
export const durationOption = <const Flags extends string>(
  flags: Flags,
  description: string,
  period: string,
  more = '',
) => new Option(flags, description).argParser(duration).default(duration(period), period + more)

/** Parses a duration from now, in one direction, or a date with or without a time. */
const moment =
  (direction: 1 | -1) =>
  (text: string): Date => {
    const seconds = secondsOf(text)
    if (seconds !== undefined) return new Date(Date.now() + direction * seconds * 1000)
    const date = /^\d{4}-\d{2}-\d{2}/.test(text) ? new Date(text) : undefined
    if (date === undefined || Number.isNaN(date.getTime())) {
      throw new InvalidArgumentError(
        'Expected a duration such as 2h or 7d, or a date such as 2026-03-21 or 2026-03-21T09:30:00Z.',
      )
    }
    return date
  }

/** Parses `--since`: a duration back from now, or a date. */
export const since = moment(-1)

/** Parses `--expires`: a duration from now, or a date, in whole seconds. */
export const expiry = (text: string): Date => {
  const at = moment(1)(text)
  at.setUTCMilliseconds(0)
  return at
}

/** `--since` with a default. */
export const periodOption = (period: string) =>
  new Option('--since <when>', 'start of the period: 2h, 7d, or a date')
    .argParser(since)
    .default(since(period), period)

/** Parses an option that is a positive integer. */
export const positive = (text: string): number => {
  const number = Number(text)
  if (!/^\d{1,9}$/.test(text) || number < 1) throw new InvalidArgumentError('Expected a positive integer.')
  return number
}

const port = (text: string): number => {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('Expected a port number.')
}

/** An option for a TCP port. */
export const portOption = (name: PortName) => {
  const { variable, port: preset } = ADDRESSES[name]
  const description = `port on 127.0.0.1 (default: ${variable}, else ${preset})`
  return new Option('--port <number>', description).argParser(port)
}

export const SOURCE = new Option('--source <source>', 'only this store')
export const ORDER = new Option('--order <external_id>', 'only this order')
export const URL_OPTION = new Option(
  '--url <url>',
  "webhook URL (default: the one registered, else the deployment's own)",
)
