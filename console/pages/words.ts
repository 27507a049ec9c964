/** The text of a page. */
export const t = (text: string, values: Record<string, string | number> = {}) =>
  text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''))
