/**
 * A call to AWS that did not succeed. Its `name` is the exception's, as it is with AWS's own SDK, such as
 * `ConditionalCheckFailedException`; `Unreachable` when there was no answer.
 */
export class AwsError extends Error {
  override readonly name: string
  /** Whether the same call may succeed a moment later. */
  readonly passing: boolean

  constructor(name: string, message: string, { passing, cause }: { passing: boolean; cause?: unknown }) {
    super(message, { cause })
    this.name = name
    this.passing = passing
  }
}
