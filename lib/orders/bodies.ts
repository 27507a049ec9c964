/**
 * Bodies of at least this many characters are stored deflated. The rows of a large order are similar: a body of 500 KB
 * deflates to about 10 KB.
 */
const DEFLATED_FROM = 4096

/** Loaded on demand, since nearly every body is smaller. */
const zlib = () => process.getBuiltinModule('node:zlib')

/** The deflated body, or undefined if it is too small to be deflated. */
export const deflated = (request: string): Uint8Array | undefined =>
  request.length < DEFLATED_FROM ? undefined : new Uint8Array(zlib().deflateRawSync(request))

/** Reverses {@link deflated}. */
export const inflated = (body: Uint8Array): string => zlib().inflateRawSync(body).toString()

/**
 * The stored size of a body in bytes: deflated, or as a JSON string in the list of requests.
 *
 * @param enough deflates the body only if its JSON string is larger than this
 */
export const storedBytes = (request: string, enough: number): number => {
  const bytes = Buffer.byteLength(JSON.stringify(request))
  return bytes <= enough ? bytes : (deflated(request)?.length ?? bytes)
}
