import { text } from 'node:stream/consumers'
import { isCancel, password } from '@clack/prompts'
import { cannot } from './failure.ts'

const fromStdin = async () => (await text(process.stdin)).replace(/\r?\n$/, '')

const fromPrompt = async (what: string) => {
  const given = await password({ message: `${what} (not shown):`, output: process.stderr, withGuide: false })
  if (isCancel(given)) throw cannot(`read ${what}`, 'it was not given')
  return given
}

/**
 * A secret from standard input, or asked for at a terminal: an argument would stay in the shell's history and
 * show in the list of processes.
 *
 * @param what its name in the question and the error
 * @throws Failure when there is none, or it cannot be one
 */
export const readSecret = async (what: string): Promise<string> => {
  const asked = process.stdin.isTTY
  const secret = asked ? await fromPrompt(what) : await fromStdin()
  if (secret === '') {
    throw asked
      ? cannot(`read ${what}`, 'it is empty')
      : cannot(`read ${what}`, 'standard input is empty', 'pipe it in, or call from a terminal to be asked')
  }
  if (/[\s\p{Cc}]/u.test(secret)) {
    throw cannot(`read ${what}`, 'it has blanks or line breaks within', 'give it alone, on one line')
  }
  return secret
}
