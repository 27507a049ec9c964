import { clearLine, cursorTo } from 'node:readline'

export type Progress = { advance: (by?: number) => void; done: () => void }

const WIDTH = 24

const silent: Progress = { advance: () => undefined, done: () => undefined }

/**
 * Shows how far a long piece of work has come, on standard error, and only to a person.
 *
 * Drawn by hand: the libraries for this catch Ctrl-C, which here must reach what puts messages back.
 *
 * @param total what `advance` adds up to
 */
export const progress = (label: string, total: number): Progress => {
  const { stderr } = process
  if (!stderr.isTTY || total <= 0) return silent
  let reached = 0

  const clear = () => {
    cursorTo(stderr, 0)
    clearLine(stderr, 0)
  }
  const draw = () => {
    const full = Math.round((WIDTH * Math.min(reached, total)) / total)
    const line = `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${Math.min(reached, total)}/${total}  ${label}`
    clear()
    // A line that wraps could not be drawn over.
    stderr.write([...line].slice(0, stderr.columns - 1).join(''))
  }

  draw()
  return {
    advance: (by = 1) => {
      reached += by
      draw()
    },
    done: clear,
  }
}
