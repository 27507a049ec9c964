import { catalogue } from '../core/coded.ts'

/** The findings of the doctor by stable codes. */
export const MESSAGES = {
  seconds: '{count} seconds',
  minutes: '{count} minutes',
  hours: '{count} hours',
  days: '{count} days',
  message: '1 message',
  messages: '{count} messages',
  none: 'none',
  'no-messages': 'no messages wait',
  // Durations that must be consistent.
  'remembers-retries': 'deliveries are remembered for as long as the sender retries',
  'retry-window': 'remembered for {time}, retried for up to {longest}',
  'raise-ttl': 'raise DELIVERY_TTL_SECONDS and deploy',
  'remembers-replays': 'deliveries are remembered for as long as dead letters can be replayed',
  'replay-window': 'remembered for {time}, dead letters are kept for {kept}',
  'raise-ttl-or-lower-retention':
    'raise DELIVERY_TTL_SECONDS, or lower the retention of dead letters, and deploy',
  'stays-invisible': 'messages stay invisible while the worker processes them',
  'visibility-window': 'visibility timeout {time}, worker timeout {limit}; AWS recommends a factor of six',
  'raise-visibility':
    'raise VisibilityTimeout of the order queue, or lower the timeout of the worker, and deploy',
  'receiver-responds': 'the receiver responds before the sender gives up',
  'receiver-window': 'timeout {time}, the sender waits {limit}',
  'lower-webhook-timeout': 'lower the timeout of the webhook function and deploy',
  'dead-before-expiry': 'failing messages become dead letters before they expire',
  'receive-window': '{count} receives within at most {time}; retention is {kept}',
  'no-dead-letter-queue': 'the order queue has no dead-letter queue',
  'deploy-again': 'deploy again',
  'lower-receives': 'lower maxReceiveCount of the order queue, or raise its retention, and deploy',
  // The webhook.
  'webhook-registered': 'the webhook is registered',
  'no-secret': 'no secret is stored for {url}',
  'registered-since': '{url}, since {time}',
  'secret-accepted': 'the relay accepts webhooks signed with its secret',
  accepts: '{url} accepts {id}',
  refuses: '{url} refuses {id}',
  'wait-for-secret':
    'try again in a minute, when the relay has read new secrets; otherwise check its clock and that the URL is its own',
  'answers-ping': '{url} answers {status} to a signed ping',
  'see-log': 'see the log: {command}',
  'one-secret': 'one secret is in use',
  'rotation-unfinished': '{count} secrets: a rotation is not finished',
  'no-other-secret': 'no other secret is accepted',
  'other-secrets': 'accepted, but not of {url}: {others}',
  'unregister-others': 'if they belong to an earlier URL: {command}',
  // The accounting service.
  'key-accepted': 'the accounting service accepts the API key',
  'set-key': 'set a key with the scope orders.write: {command}',
  'key-refused': '{url} answers {reason}',
  'service-unavailable': '{url}: {reason}',
  'check-service': 'check that it is up; events wait until then',
  'no-key': 'no key is stored',
  'clocks-agree': 'the clocks of the service and the relay agree',
  'no-date': '{url} does not answer with a date',
  'clock-difference': '{count} s apart; the tolerance is {most} s',
  'correct-clock': 'correct the clock of the accounting service',
  'correct-clock-refused': 'correct the clock of the accounting service: all its webhooks are refused',
  // Queues.
  'queue-processed': 'the order queue is processed',
  'in-progress': '{messages}, {count} of them in progress or waiting for a retry',
  'why-they-wait': '{command} shows why they wait',
  'no-imports': 'no store imports orders',
  'bulk-empty': 'the bulk queue is empty',
  'in-bulk': '{messages} in the bulk queue',
  'dead-letters': 'dead letters',
  'see-dead': 'see {list}, fix the cause, then {replay}',
  quarantine: 'quarantine',
  'see-quarantine': 'see {list}; once a new version can read it, {replay}',
  // Stores.
  feed: 'the feed of "{source}"',
  'no-signing-secret': 'it has no signing secret',
  'consumer-failed': 'dead letters that its consumer could not handle: {count}',
  'not-received': '{messages} not received yet',
  'endpoint-answers': '{command} shows what its endpoint answers',
  'check-consumer': 'check that the store reads its queue',
  'no-queue': 'its queue does not exist',
  restart: 'restart npm start',
  'deploy-stores': 'deploy the stores.yml of this checkout',
  'store-key': 'the key of "{source}"',
  'no-store-key': 'it has none, so it cannot use the API',
  index: 'the index of keys and secrets',
  'index-differs': 'it differs from them',
  'store-keys': 'the keys of "{source}"',
  'store-unknown': 'stored, but the store is not in stores.yml',
  // The account.
  'alarms-reach': 'alarms have a recipient',
  subscribed: 'confirmed subscriptions of {topic}: {count}',
  unconfirmed: 'the subscription is not confirmed',
  confirm: 'open the link in the e-mail from AWS',
  'not-subscribed': '{topic} has no subscription',
  subscribe: 'deploy with ALARM_EMAIL, or subscribe to the topic',
  drill: 'the alarm {alarm} notifies its topic',
  'drill-silent': 'no action within {count} seconds',
  'drill-raised': 'not tried, since it is raised now',
  'check-topic': "check the topic's policy and its key",
  concurrency: "the account's Lambda concurrency suffices",
  'concurrency-quota':
    'quota {quota}, {unreserved} of them unreserved; queues use up to {reading}, {reserved} are reserved for the endpoints',
  'raise-concurrency': 'request a higher quota, or lower workerConcurrency: docs/operate.md, Quotas',
  // A check that failed itself.
  check: 'check {topic}',
  'fix-and-repeat': 'fix this and run the command again',
} as const

export type DoctorCode = keyof typeof MESSAGES

export const say = catalogue(MESSAGES)

export const messagesOf = (count: number) => (count === 1 ? say('message') : say('messages', { count }))
