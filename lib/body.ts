/**
 * The body of a request: text where API Gateway has decoded it, bytes where it hands over base64. What was
 * signed are the bytes; the UTF-8 of the text are the same ones.
 */
export type Body = string | Uint8Array

/** An order is one or two kilobytes; escaped once more inside a message, this still fits what SQS takes. */
export const MAX_BODY_BYTES = 256 * 1024

export const isTooLarge = (body: Body): boolean =>
  // One unit of a text is three bytes at most, and most texts are far too short to be counted.
  body.length > MAX_BODY_BYTES / 3 && Buffer.byteLength(body) > MAX_BODY_BYTES

const utf8 = new TextDecoder('utf-8', { fatal: true })
const BYTE_ORDER_MARK = '\uFEFF'

/**
 * The text of a body, without a byte order mark.
 *
 * @throws TypeError when the bytes are not UTF-8
 */
export const textOf = (body: Body): string => {
  if (typeof body !== 'string') return utf8.decode(body)
  return body.startsWith(BYTE_ORDER_MARK) ? body.slice(1) : body
}
