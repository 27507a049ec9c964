// JSON.parse source text access: in Node 24, not yet in TypeScript's library.
interface JSON {
  parse(
    text: string,
    reviver: (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
  isRawJSON(value: unknown): boolean
}
