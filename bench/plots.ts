const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

// Read on a light page and on a dark one: a middle grey for words, colours that stand out on both.
const STYLE =
  '<style>text{font:13px system-ui,sans-serif;fill:#777}.t{font-weight:600}.b{fill:#3b82c4}.g{stroke:#7773;stroke-width:1}</style>'

const svg = (width: number, height: number, title: string, content: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">` +
  `<title>${escaped(title)}</title>${STYLE}<text class="t" x="8" y="20">${escaped(title)}</text>${content}</svg>\n`

const text = (x: number, y: number, words: string, anchor = 'start') =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escaped(words)}</text>`

/** Horizontal bars, each with its name and its number. */
export const bars = (title: string, values: readonly (readonly [string, number])[]): string => {
  const most = Math.max(...values.map(([, value]) => value))
  const content = values.map(([name, value], row) => {
    const y = 36 + row * 28
    const width = (value / most) * 380
    return (
      text(190, y + 15, name, 'end') +
      `<rect class="b" x="200" y="${y}" width="${width.toFixed(1)}" height="20" rx="2"/>` +
      text(206 + width, y + 15, value >= 100 ? value.toFixed(0) : value.toPrecision(3))
    )
  })
  return svg(660, 44 + values.length * 28, title, content.join(''))
}

export type Line = { name: string; points: readonly (readonly [number, number])[] }

const COLOURS = ['#3b82c4', '#d1663a', '#3c9a5f', '#9a5fc4', '#c4a23b']
const BOX = { left: 64, top: 56, width: 470, height: 260 }

const power = (exponent: number) => {
  const value = 10 ** exponent
  return value >= 1 ? value.toLocaleString('en') : String(value)
}

/** Lines over two logarithmic axes. */
export const lines = (title: string, axes: { x: string; y: string }, series: readonly Line[]): string => {
  const logs = series.flatMap(({ points }) => points.map(([x, y]) => [Math.log10(x), Math.log10(y)] as const))
  const range = (values: number[]) =>
    [Math.floor(Math.min(...values)), Math.ceil(Math.max(...values))] as const
  const [x0, x1] = range(logs.map(([x]) => x))
  const [y0, y1] = range(logs.map(([, y]) => y))
  const px = (log: number) => BOX.left + ((log - x0) / (x1 - x0 || 1)) * BOX.width
  const py = (log: number) => BOX.top + BOX.height - ((log - y0) / (y1 - y0 || 1)) * BOX.height
  const ticks = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, each) => from + each)

  const grid = [
    ...ticks(x0, x1).map(
      log =>
        `<path class="g" d="M${px(log)} ${BOX.top}V${BOX.top + BOX.height}"/>` +
        text(px(log), BOX.top + BOX.height + 18, power(log), 'middle'),
    ),
    ...ticks(y0, y1).map(
      log =>
        `<path class="g" d="M${BOX.left} ${py(log)}H${BOX.left + BOX.width}"/>` +
        text(BOX.left - 6, py(log) + 4, power(log), 'end'),
    ),
  ]
  const drawn = series.map(({ name, points }, index) => {
    const colour = COLOURS[index % COLOURS.length]
    const path = points.map(
      ([x, y], each) =>
        `${each === 0 ? 'M' : 'L'}${px(Math.log10(x)).toFixed(1)} ${py(Math.log10(y)).toFixed(1)}`,
    )
    const y = BOX.top + 12 + index * 20
    return (
      `<path d="${path.join('')}" fill="none" stroke="${colour}" stroke-width="2"/>` +
      `<path d="M${BOX.left + BOX.width + 14} ${y - 4}h18" stroke="${colour}" stroke-width="3"/>` +
      text(BOX.left + BOX.width + 38, y, name)
    )
  })
  const names =
    text(BOX.left + BOX.width / 2, BOX.top + BOX.height + 40, axes.x, 'middle') +
    text(BOX.left - 6, BOX.top - 14, axes.y, 'end')
  return svg(780, BOX.top + BOX.height + 54, title, grid.join('') + drawn.join('') + names)
}
