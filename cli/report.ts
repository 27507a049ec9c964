/** What a command found: the same for programs (`--json`) and for people. */
export type Report = {
  data: unknown
  text: string
  /** False when something needs doing; the exit code is then 1. @default true */
  ok?: boolean
}

/** One JSON document, or text. */
export const print = ({ data, text }: Report, json: boolean): void => {
  process.stdout.write(json ? `${JSON.stringify(data, null, 2)}\n` : `${text}\n`)
}
