import { catalogue } from './coded.ts'
import type { Finding as FindingOf } from './output.ts'

/** Findings of checks, notices and feeds by stable codes. */
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
  'forgets-retries': 'deliveries are forgotten while the sender still retries',
  'retry-window': 'remembered for {time}, retried for up to {longest}',
  'raise-ttl': 'raise DELIVERY_TTL_SECONDS and deploy',
  'remembers-replays': 'deliveries are remembered for as long as dead letters can be replayed',
  'forgets-replays': 'deliveries are forgotten while dead letters can still be replayed',
  'replay-window': 'remembered for {time}, dead letters are kept for {kept}',
  'raise-ttl-or-lower-retention':
    'raise DELIVERY_TTL_SECONDS, or lower the retention of dead letters, and deploy',
  'stays-invisible': 'messages stay invisible while the worker processes them',
  reappears: 'messages reappear while the worker still processes them',
  'visibility-window': 'visibility timeout {time}, worker timeout {limit}; AWS recommends a factor of six',
  'raise-visibility':
    'raise VisibilityTimeout of the order queue, or lower the timeout of the worker, and deploy',
  'receiver-responds': 'the webhook function responds before the sender gives up',
  'receiver-late': 'the sender gives up before the webhook function responds',
  'receiver-window': 'timeout {time}, the sender waits {limit}',
  'lower-webhook-timeout': 'lower the timeout of the webhook function and deploy',
  'dead-before-expiry': 'failing messages of {queue} become dead letters before they expire',
  'expires-first': 'failing messages of {queue} expire before they become dead letters',
  'receive-window': '{count} receives within at most {time}; retention is {kept}',
  'no-dead-letter-queue': 'it has no dead-letter queue',
  'deploy-again': 'deploy again',
  'lower-receives': 'lower maxReceiveCount of the queue, or raise its retention, and deploy',
  'receives-differ':
    'failing messages of {queue} become dead letters earlier or later than the template sets',
  'receives-found':
    '{count} receives within at most {time}; a deployment sets {set}, within at most {longest}',
  'restore-receives':
    'deploy again; if maxReceiveCount was changed by hand, set it back to {set}, since CloudFormation only applies changes to the template',
  // The stores of the local relay.
  'stores-file': 'the file stores.yml has errors',
  'stores-error': '{error}',
  'correct-stores-file': 'correct the file; until then, the relay keeps the stores {stores}',
  // The webhook.
  'webhook-registered': 'the webhook was registered by this relay',
  'webhook-unregistered': 'the webhook is not registered',
  'no-secret': 'no secret is stored for {url}; the scheduled checks find only changes of unsettled orders',
  'was-unregistered': 'the webhook was not registered for some time',
  'not-received-between':
    'no webhooks were received from {since} to {until}; only an audit finds changes of settled orders in that time',
  'audit-gap':
    'compare the orders that were saved here in the last {count} days with the service, and repair those that lag; a longer --since includes older orders: {command}',
  'registered-since': '{url}, at {time}; the interface of the service has no way to confirm it',
  'secret-accepted': 'the relay accepts webhooks signed with its secret',
  'secret-refused': 'the relay refuses webhooks signed with its secret',
  'ping-failed': 'the webhook URL does not accept a signed ping',
  accepts: '{url} accepts a ping signed with the secret "{id}"',
  refuses: '{url} refuses a ping signed with the secret "{id}"',
  'wait-for-secret':
    'try again in a minute, when the relay has read new secrets; otherwise check its clock and that the URL is its own',
  'answers-ping': '{url} answers {status} to a signed ping',
  'see-log': 'see the log: {command}',
  'are-refused': 'webhooks are refused for their signature',
  'refused-one': 'one refused, at {until}; {before}',
  'refused-since': 'refused since {since}, the last one at {until}; {before}',
  'last-accepted': 'the last one with a valid signature at {time}',
  'none-accepted': 'none with a valid signature in the last {hours}',
  'register-again':
    'if the accounting service sends them, its secret was replaced, for example because the URL was registered by hand. Get a new one: {command}',
  'were-refused': 'webhooks were refused for their signature',
  'may-be-refused': 'webhooks may still be refused for their signature',
  'secret-stored': 'a new secret was stored at {time}, and the whole relay knows it by {known}; {refused}',
  'secret-unproven':
    'a new secret was stored at {time}, and the whole relay has known it since {known}; {refused}. The next webhook shows whether the service signs with this secret',
  'refused-at': 'refused at {until}; {orders}',
  'refused-between': 'refused from {since} to {until}; {orders}',
  'orders-may-lag': 'orders that changed then may lag behind the service',
  'orders-audited': 'an audit has compared the orders since',
  audit: 'compare the orders with the service, and repair those that lag: {command}',
  'are-ignored': 'webhooks of the store "{source}" are ignored: stores.yml does not have it',
  'were-ignored': 'webhooks of the store "{source}" were ignored: stores.yml did not have it',
  'ignored-one':
    'one ignored, at {until}; the service does not send it again, so its order may lag behind the service',
  'ignored-between':
    '{count} ignored, from {since} to {until}; the service does not send them again, so their orders may lag behind the service',
  'restore-store':
    'if the store was removed or renamed by mistake, restore it in stores.yml and, on AWS, deploy; then {remedy}',
  'secrets-stored': '{count} webhook secrets are stored',
  'secret-replaced':
    'the newest was stored at {time}; the command that stored it deletes the old one, if it is still running',
  'secret-replacing':
    'the newest was stored at {time}; wait until the running change of the registration ends',
  'old-secret-used': 'webhooks signed with the old one may still arrive until {time}',
  'old-secret-unused': 'the old one is no longer needed',
  'older-in-use': 'the secret last known to be in use is {id}, as of {time}, not the newest, {newest}',
  'await-newest': 'wait until a webhook is signed with the newest, or get another secret: {command}',
  'retire-secret':
    'unless the command that replaces the secret is still running, delete the old one: {command}',
  'other-secret': 'secrets of other URLs are accepted',
  'other-secrets': 'not of {url}: {others}',
  'unregister-others': 'if they belong to an earlier URL: {command}',
  // The accounting service.
  'key-accepted': 'the accounting service accepts the API key',
  'key-not-accepted': 'the accounting service refuses the API key',
  'service-down': 'the accounting service is unavailable',
  'key-missing': 'the relay has no API key for the accounting service',
  'set-key': 'set a key with the scope orders.write: {command}',
  'service-answer': '{url}: {reason}',
  'check-service': 'check that it is up; events wait until then',
  'service-fails': 'the accounting service answers calls in a way that its interface does not define',
  'report-answer':
    'report it to the operator of the service; such a response does not count as an outage, so only the affected orders wait',
  'service-throttles': 'the accounting service limits the rate of calls',
  'try-later': 'check again later; orders wait until it accepts their calls',
  'no-key': 'no key is stored',
  'clocks-agree': 'the clocks of the service and the relay agree',
  'clocks-differ': 'the clocks of the service and the relay differ',
  'clocks-unknown': 'the clocks of the service and the relay cannot be compared',
  'no-date': '{url} does not answer with a date',
  'clock-difference': '{count} s apart; the tolerance is {most} s',
  'correct-clock': 'correct the clock of the accounting service',
  'correct-clock-refused': 'correct the clock of the accounting service: all its webhooks are refused',
  // Queues.
  'queue-processed': 'the order queue is processed',
  'queue-waits': 'events wait in the order queue',
  'in-progress': '{messages}, {count} of them in progress or waiting for a retry',
  'why-they-wait': '{command} shows why they wait',
  'no-imports': 'no event waits in the bulk queue',
  imports: 'events wait in the bulk queue',
  'bulk-empty': 'the bulk queue is empty',
  'in-bulk': '{messages} in the bulk queue',
  'dead-letters': 'dead letters',
  'see-dead': 'see {list}, fix the cause, then {replay}',
  quarantine: 'quarantine',
  'see-quarantine': 'see {list}; once a new version can read it, {replay}; or delete it: {discard}',
  // Stores.
  feed: 'the feed of "{source}"',
  'no-signing-secret': 'it has no signing secret',
  'not-registered': 'the store has registered no webhook URL',
  'not-registered-waiting': 'the store has registered no webhook URL; {messages} not received yet',
  'register-url': 'the store registers one with its key: PUT {url}',
  'consumer-failed': 'dead letters that its consumer could not handle: {count}',
  'feed-dead': 'messages to the store "{source}" are dead letters',
  'feed-dead-since': '{messages} since {time}; a dead letter is sent again only when it is replayed',
  'feed-dead-because':
    '{messages} since {time}: {reason}; a dead letter is sent again only when it is replayed',
  'at-least': 'at least {messages}',
  'feed-replay': 'once the store accepts messages, send them again: {command}',
  'not-received': '{messages} not received yet',
  'removed-queue': 'the queue {queue} of the store "{source}" is no longer in stores.yml',
  'removed-waiting': '{messages} that no store receives',
  'add-again': 'if the store was removed or renamed by mistake, restore it in stores.yml',
  'endpoint-answers': '{command} shows what its endpoint answers',
  'feed-answers': 'the store "{source}" last answered {status}',
  'feed-fails': 'messages to the store "{source}" fail',
  'feed-answers-order': 'the store "{source}" last answered {status} to the messages of order "{order}"',
  'feed-fails-order': 'the messages of order "{order}" to the store "{source}" fail',
  'feed-fails-orders': 'the messages of {count} orders to the store "{source}" fail',
  'feed-undeliverable': 'the relay cannot deliver messages to the store "{source}"',
  since: 'failing since {time}',
  'since-before': 'failing since before {time}',
  'failing-since': '{since}; waiting: {messages}; {attempt}',
  'failing-because': '{since}: {reason}; waiting: {messages}; {attempt}',
  'failing-others':
    '{since}, last at {time}: {reason}; the store accepts messages of other orders, the last one at {until}; waiting: {messages}; {attempt}',
  'next-attempt': 'next attempt at {time}',
  'attempt-due': 'the next attempt is due',
  'retry-waiting':
    'the store has accepted messages since the last of these failures; retry those that wait: {command}',
  'see-messages': '{command} shows them and their attempts',
  'remedy-and-messages': '{remedy}; {command} shows the messages and their attempts',
  'feed-answered': 'the store "{source}" answered {status} at {time}',
  'feed-unanswered': 'the store "{source}" did not answer at {time}',
  'signature-refused': 'it refused the signature of the message',
  'message-refused': 'it did not accept the message',
  verify:
    'check that the store has the secret of its feed and verifies the raw bytes of the body; {explain} names the cause. If the secret is lost, create another: {command}',
  'verify-registered':
    'check that the store has the secret of its feed and verifies the raw bytes of the body; {explain} names the cause. If the secret is lost, the store must register its URL again',
  'registered-again':
    'the store registered its URL again during the test and got a new secret, but this message was signed with the earlier one: run the test again',
  'registered-other':
    'the store registered another URL, {location}, during the test, but this message was sent to the earlier one: run the test again',
  'removed-url':
    'the store removed its URL during the test, but this message was sent to it: the store must register a URL before you run the test again',
  'url-configured': 'the URL in stores.yml',
  'url-registered': 'the URL that the store registers',
  'check-path':
    'check the path of {url}; if it is correct, the store must answer 2xx even if it does not know the event or the order',
  redirects:
    'the relay does not follow redirects: if the receiver is at the target of the redirect, change {url} to it; if the target is another page, such as a login page, make the store answer at the current address without a redirect',
  'redirects-unknown':
    'the relay does not follow redirects. See where this one leads: {command}. If the receiver is there, change {url} to it; if it is another page, such as a login page, make the store answer at the current address without a redirect',
  'redirects-to':
    'the store redirects to {location}, and the relay does not follow redirects: change {url} to this address',
  'redirects-elsewhere':
    'the store redirects to {location}, and the relay does not follow redirects: if the receiver is at this address, change {url} to it; if this is another page, such as a login page, make the store answer at the current address without a redirect',
  forbidden:
    'the store, or a firewall or proxy in front of it, refuses the request before it checks the signature: exempt the path of the receiver from logins, CSRF checks and bot protection',
  'size-limited':
    'the store, or a proxy in front of it, limits the size of requests: raise the limit for the path of the receiver',
  'rate-limited':
    'the store, or a proxy in front of it, limits the rate of requests: raise the limit for the path of the receiver, or exempt the path; the relay retries a refused message after the time in Retry-After',
  'proxy-failed':
    'a proxy usually gives this answer when it cannot reach the store: check that the store is running at the address that the proxy forwards to, and read the log of the proxy',
  'not-running':
    'the store, or a proxy in front of it, usually gives this answer while the store does not run, is overloaded or in maintenance: check the store, and read the log of the proxy',
  'proxy-late':
    'a proxy usually gives this answer when the store does not answer in time: answer within {count} seconds, after the transaction that handles the message, and read the log of the proxy',
  'answer-late':
    'answer within {count} seconds, after the transaction that handles the message; if the store has received no request, check its address and firewall',
  'find-error':
    'find the error in the output of the store; it must answer 2xx to a message that it has handled, and to an event that it does not know',
  'check-address': 'check that the store is running and can be reached at {url}',
  'check-name': 'check the host name of {url} and its DNS records: it has no address',
  'check-certificate':
    'install a certificate that is valid for the host name of {url}, with its intermediate certificates',
  'check-consumer': 'check that the store reads its queue',
  'no-queue': 'its queue does not exist',
  restart: 'restart npm start',
  'deploy-stores': 'deploy the stores.yml of this checkout',
  'store-key': 'the key of "{source}"',
  'no-store-key': 'it has none, so it cannot use the API',
  unauthorized: 'requests that name the store "{source}" were refused with 401',
  'unauthorized-unknown': 'requests that name no store of the relay were refused with 401',
  'unauthorized-key': 'requests with a key of the store "{source}" were refused with 401',
  'unauthorized-forbidden': 'requests with a key of the store "{source}" were refused with 403',
  'unauthorized-foreign': 'requests that name the store "{source}" were refused with 403',
  'unauthorized/one': 'one request that names the store "{source}" was refused with 401',
  'unauthorized-unknown/one': 'one request that names no store of the relay was refused with 401',
  'unauthorized-key/one': 'one request with a key of the store "{source}" was refused with 401',
  'unauthorized-forbidden/one': 'one request with a key of the store "{source}" was refused with 403',
  'unauthorized-foreign/one': 'one request that names the store "{source}" was refused with 403',
  'unauthorized-since': 'in the last hour: {count}, the first at {since}, the last at {until}; {cause}',
  'refused-once': 'at {until}; {cause}',
  'accepted-since': '{refused}; the key of a later request of the store was accepted, at {time}',
  'key-unknown': 'the key is unknown: wrong, revoked, of a removed store or of another relay',
  'key-new':
    'a key was created at {time} and, if the request used it, was not known yet: a new key works within {count} seconds',
  'key-absent': 'no key was sent',
  'key-expired': 'the key "{name}" has expired',
  'key-reads': 'the key "{name}" may only read orders',
  'key-creates': 'the key "{name}" may only create orders, without a payment',
  'key-foreign': 'the key "{name}" belongs to the store "{other}"',
  'key-foreign-unknown':
    'the key "{name}" allows only the orders of its store, and the requests name another or none',
  'key-expires': 'the key "{name}" expires at {time}',
  'replace-key': 'create another, and set it in the store before then: {command}',
  'check-source': 'correct the source in the requests, or use the key of the store that they are for',
  'check-store-key': 'correct the key in the store, or create another: {command}',
  'use-new-key':
    'a key was created at {time}, after the last of these requests, and works within {count} seconds: use it in the store',
  index: 'the index of keys and secrets',
  'index-differs': 'it differs from them',
  'other-key': 'a key of "{source}"',
  'store-unknown': 'the key {id} is stored, but the store is not in stores.yml',
  'revoke-key': 'if the store was removed, revoke the key: {command}',
  // Orders.
  'dead/one': '{count} order has dead letters',
  'dead/many': '{count} orders have dead letters',
  'dead/over': 'orders with dead letters: at least {count}',
  'dead/found':
    'no dead letter is retried until it is replayed; a request that is saved with its order is still sent by a check unless it is withdrawn',
  'dead/replay': '{command} plans the replay',
  'dead-unnamed/one': '{count} dead letter belongs to no order',
  'dead-unnamed/many': '{count} dead letters belong to no order',
  'dead-unnamed/over': 'dead letters that belong to no order: at least {count}',
  'dead-unnamed/found': 'the worker cannot read such a message and quarantines it when it is replayed',
  'accountant/one': '{count} order waits for an accountant',
  'accountant/many': '{count} orders wait for an accountant',
  'accountant/over': 'orders that wait for an accountant: at least {count}',
  'accountant/why':
    'the invoice is in review, or the service refused a request for a cause that an accountant can remove',
  'accountant/list': '{command} lists them',
  // WooCommerce shops.
  shop: 'the WooCommerce shop of "{source}"',
  'shop-state':
    '{url}: {access}; webhooks: {webhooks}; last read {polled}, last synchronized {synchronized}; orders that need attention: {count}',
  'shop-unreachable': '{url} cannot be read: {reason}',
  reads: 'the key may only read',
  'reads-and-writes': 'the key may read and write',
  'webhooks-active': 'all {count} active',
  'check-shop': 'check that the shop is up and its key is valid; for another key: {command}',
  'allow-writing':
    'in the shop, under WooCommerce, Settings, Advanced, REST API, give the key the permission Read/Write',
  'connect-again': 'create them again: {command}',
  'activate-webhooks':
    'in the shop, under WooCommerce, Settings, Advanced, Webhooks, set them to Active; the connector does it once a night',
  'see-poll': 'the connector should read it every two minutes: see the log of its function poll',
  // The account.
  'alarms-reach': 'alarms have a recipient',
  'alarms-unheard': 'alarms have no recipient',
  subscribed: 'confirmed subscriptions of {topic}: {count}',
  unconfirmed: 'the subscription is not confirmed',
  confirm: 'open the link in the e-mail from AWS',
  'not-subscribed': '{topic} has no subscription',
  subscribe: 'deploy with ALARM_EMAIL, or subscribe to the topic',
  drill: 'the alarm {alarm} notifies its topic',
  'drill-failed': 'the alarm {alarm} does not notify its topic',
  'drill-silent': 'no action within {count} seconds',
  'drill-raised': 'not tried, since it is raised now',
  'check-topic': "check the topic's policy and its key",
  concurrency: "the account's Lambda concurrency suffices",
  'no-concurrency': "the account's Lambda concurrency is too low",
  'concurrency-quota':
    'quota {quota}, {unreserved} of them unreserved; queues use up to {reading}, {reserved} are reserved for the endpoints',
  'raise-concurrency': 'request a higher quota, or lower workerConcurrency: docs/operate.md, Quotas',
  // A check that failed itself.
  'not-checked': 'the topic "{topic}" cannot be checked',
  'fix-and-repeat': 'fix this and run the command again',
} as const

export type FindingCode = keyof typeof MESSAGES

export type Finding = FindingOf<FindingCode>

export const say = catalogue(MESSAGES)

export const messagesOf = (count: number) => (count === 1 ? say('message') : say('messages', { count }))
