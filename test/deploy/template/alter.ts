import { expect } from '@jest/globals'

/** The parts, such as the resources of a template, with other text in one of them. */
export const alter = <Parts extends Readonly<Record<string, unknown>>>(
  parts: Parts,
  name: keyof Parts,
  from: string,
  to: string,
): Parts => {
  const text = JSON.stringify(parts[name])
  expect(text).toContain(from)
  return { ...parts, [name]: JSON.parse(text.replaceAll(from, () => to)) }
}

export const collect = async (violations: Iterable<string> | AsyncIterable<string>): Promise<string[]> => {
  const all: string[] = []
  for await (const violation of violations) all.push(violation)
  return all
}
