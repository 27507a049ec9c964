export * from './client.ts'
export { type Explanation, explainSignature } from './explain.ts'
export * from './handlers.ts'
export * from './messages.ts'
export { nextSeen, type Once, onceInMemory, type Seen } from './once.ts'
export { createReceiver, type Receive, type ReceiveOptions } from './receive.ts'
export * from './requests.ts'
export {
  type HeadersLike,
  SignatureError,
  type SignatureErrorCode,
  sign,
  TOLERANCE_SECONDS,
  type VerifyOptions,
  verifySignature,
} from './signature.ts'
