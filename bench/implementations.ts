/** What is measured against what. */
export type Implementation = {
  name: string
  /** In a sentence, for the reader of the page. */
  about: string
  entry: string
  /** Files of the project that others stand in for. */
  instead?: Readonly<Record<string, string>>
}

const OURS = 'functions/webhook.ts'

export const ours: Implementation = {
  name: 'order-relay',
  about: 'the receiver as it is packaged for Lambda',
  entry: OURS,
}

export const worker: Implementation = {
  name: 'worker',
  about: 'behind the line: decides, keeps the order, tells the store',
  entry: 'functions/worker.ts',
}

export const onSdk: Implementation = {
  name: 'order-relay on the SDK',
  about: "the same receiver with the clients of AWS's SDK in place of `lib/aws`",
  entry: OURS,
  instead: { 'lib/aws.ts': 'bench/peers/sdk-clients.ts' },
}

export const byHand: Implementation = {
  name: 'order-relay by hand',
  about: "the same receiver with logs and metrics written by hand in place of Powertools' logger and metrics",
  entry: OURS,
  instead: { 'lib/telemetry.ts': 'bench/peers/telemetry-by-hand.ts' },
}

export const powertools: Implementation = {
  name: 'powertools stack',
  about:
    'peer (b): middy, Powertools idempotency on DynamoDB, parser, logger and parameters, as their documentation shows',
  entry: 'bench/peers/powertools.ts',
}

export const tutorial: Implementation = {
  name: 'tutorial',
  about: 'peer (c): one plain handler, its secret in the environment, nothing logged but one line',
  entry: 'bench/peers/tutorial.ts',
}

export const empty: Implementation = {
  name: 'empty handler',
  about: 'answers at once and does nothing',
  entry: 'bench/peers/empty.ts',
}

export const floor: Implementation = {
  name: 'floor',
  about: 'HMAC, comparison in constant time and one `JSON.parse`, and nothing else',
  entry: 'bench/peers/floor.ts',
}

const AT_ONCE = {
  'lib/aws.ts': 'bench/peers/clients-at-once.ts',
  'bench/peers/aws.ts': 'bench/peers/aws-at-once.ts',
  'bench/peers/secret.ts': 'bench/peers/secret-at-once.ts',
}

/** The same with clients of AWS that answer by themselves, at once. */
export const withoutAws = (implementation: Implementation): Implementation => ({
  ...implementation,
  instead: { ...implementation.instead, ...AT_ONCE },
})

/** All that the page names. */
export const all = [empty, floor, ours, byHand, onSdk, powertools, tutorial]
