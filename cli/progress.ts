import { progress as bar } from '@clack/prompts'

export type Progress = { advance: (by?: number) => void; say: (text: string) => void; done: () => void }

const silent: Progress = { advance: () => undefined, say: () => undefined, done: () => undefined }

/**
 * Shows how far a long piece of work has come, on standard error, and only to a person.
 *
 * @param total what `advance` adds up to
 */
export const progress = (label: string, total: number): Progress => {
  if (!process.stderr.isTTY || total <= 0) return silent
  const shown = bar({ max: total, output: process.stderr, withGuide: false, indicator: 'timer' })
  shown.start(label)
  let reached = 0
  return {
    advance: (by = 1) => {
      reached += by
      shown.advance(by, `${label} ${Math.min(reached, total)}/${total}`)
    },
    say: text => shown.message(text),
    done: () => shown.clear(),
  }
}
