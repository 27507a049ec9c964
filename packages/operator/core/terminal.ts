import { readFile } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { styleText } from 'node:util'
import { isCancel, password, text as prompt } from '@clack/prompts'
import { visible } from '@order-relay/lib/platform/visible.ts'
import { cannot, messageOf } from './errors.ts'

/** The parts of the process that a command uses; tests replace them. */
export type Terminal = {
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable & { isTTY?: boolean }
  stderr: Writable & { isTTY?: boolean }
  environment: Readonly<Record<string, string | undefined>>
  /** Receives the progress of long operations instead of a terminal. */
  onProgress?: (text: string, reached: number, total: number | undefined) => void
}

export type Color = 'red' | 'yellow' | 'green'

/** Colors text for a stream that is a terminal, unless NO_COLOR is set (https://no-color.org). */
export const colored = (
  { environment }: Terminal,
  stream: { isTTY?: boolean },
  color: Color | undefined,
  text: string,
): string =>
  color === undefined || stream.isTTY !== true || (environment.NO_COLOR ?? '') !== ''
    ? text
    : styleText(color, text, { validateStream: false })

/** Prints text to standard output, with the color of each line, and without characters that would control the terminal. */
export const printLines = (
  terminal: Terminal,
  text: string,
  colorOf: ((line: string) => Color | undefined) | undefined,
): void => {
  const { stdout } = terminal
  for (const line of text.split('\n'))
    stdout.write(`${colored(terminal, stdout, colorOf?.(line), visible(line))}\n`)
}

/** Without a terminal, such as in the log of a job, the progress is printed at this interval, in milliseconds. */
const LINE_MS = 10_000

/**
 * Shows the progress of a long operation on standard error: in one line of a terminal, otherwise in a new line every ten
 * seconds. Libraries for this catch Ctrl-C, which must reach the code that releases held messages.
 *
 * @param total the sum of all `advance` calls; undefined when it is not known
 * @param unit what is counted, if the label does not say it
 */
export const progress = (
  { stderr, onProgress }: Terminal,
  label: string,
  total?: number,
  unit = '',
  now = Date.now,
) => {
  let reached = 0
  let printedAt = now()
  const isShown = onProgress === undefined && total !== 0
  const draw = (text: string) => {
    if (isShown && stderr.isTTY === true) stderr.write(`\r\u001b[K${text}`)
  }
  const print = (text: string) => {
    if (!isShown || stderr.isTTY === true || now() - printedAt < LINE_MS) return
    printedAt = now()
    stderr.write(`${text}\n`)
  }
  const advance = (by = 1) => {
    reached += by
    const text = `${label}: ${total === undefined ? reached : `${Math.min(reached, total)} of ${total}${unit}`}`
    onProgress?.(text, reached, total)
    draw(text)
    print(text)
  }
  advance(0)
  const clear = () => draw('')
  return { advance, clear, [Symbol.dispose]: clear }
}

/** @throws Failure when the file that an option names cannot be read */
export const readInput = (file: string): Promise<Buffer> =>
  readFile(file).catch(error => {
    throw cannot(`read "${file}"`, messageOf(error))
  })

/** @throws Failure if it is empty or contains whitespace; the error does not contain the secret */
export const validSecret = (input: string, what: string): string => {
  if (input === '') throw cannot(`read ${what}`, 'it is empty')
  if (/[\s\p{Cc}]/u.test(input))
    throw cannot(`read ${what}`, 'it contains whitespace or line breaks', 'pass it alone, on one line')
  return input
}

/**
 * Reads a secret from standard input, or prompts for it on a terminal. An argument would be kept in the shell's history
 * and appear in the process list.
 *
 * @param what its name in the prompt and in errors
 * @throws Failure when there is no secret or it contains whitespace
 */
export const readSecret = async ({ stdin, stderr }: Terminal, what: string): Promise<string> => {
  const isPrompted = stdin.isTTY === true
  const input = isPrompted
    ? await password({ message: `${what} (hidden):`, input: stdin, output: stderr, withGuide: false })
    : (await text(stdin)).replace(/\r?\n$/, '')
  if (isCancel(input)) throw cannot(`read ${what}`, 'the prompt was cancelled')
  if (input === '' && !isPrompted) {
    const remedy = 'pipe it in, or run this in a terminal to be prompted'
    throw cannot(`read ${what}`, 'standard input is empty', remedy)
  }
  return validSecret(input, what)
}

/**
 * Requires confirmation of a destructive action by name.
 *
 * @param action such as `discard all 3`
 * @param given the name, if it was passed as an option
 * @throws Failure if another name is given
 */
export const confirmName = async (terminal: Terminal, action: string, name: string, given?: string) => {
  const { stdin, stderr } = terminal
  const ask = () =>
    stdin.isTTY === true
      ? prompt({ message: `Type "${name}" to ${action}:`, input: stdin, output: stderr, withGuide: false })
      : text(stdin)
  const typed = given ?? (await ask())
  if (!isCancel(typed) && typed.trim() === name) return
  throw cannot(action, 'it was not confirmed by its name', `type it, or pass --yes "${name}"`)
}
