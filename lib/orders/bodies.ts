/**
 * The body of a request from this many characters on is stored deflated: the rows of a large order resemble one
 * another, and a body of half a megabyte then takes some ten kilobytes.
 */
const DEFLATED_FROM = 4096

/** Taken when it is needed: nearly every order is smaller. */
const zlib = () => process.getBuiltinModule('node:zlib')

/** A body as it is stored, or undefined when it is too small to be deflated. */
export const deflated = (request: string): Uint8Array | undefined =>
  request.length < DEFLATED_FROM ? undefined : new Uint8Array(zlib().deflateRawSync(request))

/** The body that {@link deflated} has made smaller. */
export const inflated = (body: Uint8Array): string => zlib().inflateRawSync(body).toString()

/**
 * How many bytes a body takes as it is stored: deflated, or as a JSON string in the list of requests.
 *
 * @param enough a size that need not be beaten: only what is larger is deflated to find out
 */
export const storedBytes = (request: string, enough: number): number => {
  const bytes = Buffer.byteLength(JSON.stringify(request))
  return bytes <= enough ? bytes : (deflated(request)?.length ?? bytes)
}
