import { catalogue } from '../core/coded.ts'

/** Why orders wait or fail, and the possible actions, by stable codes. */
export const WAITING = {
  'kind/create': 'create',
  'kind/payment': 'payment',
  'kind/refund': 'refund',
  'cause/undeleted': 'the store repeatedly received it from its queue without deleting it',
  'cause/unrecorded': 'not recorded',
  'waits/held': 'the service holds it until the invoice is finalized',
  'waits/held-create': 'it came with the create, and the service holds it until the invoice is finalized',
  'waits/early': 'the service accepts it once the invoice is finalized',
  'waits/behind-create': 'the service does not know the order until then',
  'waits/refused': 'the service refused it: {status} {reason}',
  'waits/failing': 'the event "{event}" fails',
  'waits/unanswered':
    'the last call returned no result, and the service may have acted on it: it is sent again',
  'waits/unsent': 'it is to be sent',
  'waits/being-withdrawn': 'it is withdrawn unless a read of the order shows that it is done already',
  'waits/dead': 'its event is a dead letter: {reason}',
  'waits/dead-unknown': 'its event is a dead letter; the log shows why it failed',
  'waits/dead-open': '{dead}; the request is saved with the order: {request}',
  'waits/dead-message':
    'the message is a dead letter, which is sent again only when it is replayed: {reason}',
  'waits/dead-message-unknown':
    'the message is a dead letter, which is sent again only when it is replayed; its attempts are not recorded',
  'waits/dead-message-kept': 'the message is a dead letter, since {cause}',
  'waits/dead-message-superseded': '{dead}; a later version has been published: {version}',
  'waits/dead-behind': 'a check sends it, and checks wait while the event "{event}" fails',
  'waits/dead-behind-spent':
    'a check sends it, and checks wait until the event "{event}", which has no attempts left, is a dead letter',
  'waits/spent':
    'all {count} attempts failed: {reason}; its event becomes a dead letter by about {time}, which only an operator can replay',
  'waits/scheduled':
    'its last attempt failed: {reason}; after {count} attempts, the relay waits until the next one is due',
  'waits/bulk': 'many or slow calls of its store would delay other events in the order queue',
  'waits/review': 'it is in review',
  'waits/review-reason': 'it is in review: {reason}',
  'waits/doubt': 'it may be out of date and is read from the service',
  'waits/withdrawal': 'the order is read first: the {kind} may be done already',
  'waits/queued': 'it is in the order queue',
  'waits/lost':
    'its event is in no queue, for example because its dead letter was deleted; it is lost unless the store sends it again',
  'confirms/by': 'The relay confirms this result with the service by about {time}: {reason}.',
  'confirms/soon': 'The relay confirms this result with the service shortly: {reason}.',
  'confirms/webhook': 'it came with a webhook, and webhooks can arrive out of order',
  'confirms/doubt': 'it may be out of date',
  'failing/one': '{count} order is failing and being retried: {reason}. {alarm}',
  'failing/many': '{count} orders are failing and being retried: {reason}. {alarm}',
  'failing/over': 'Over {count} orders are failing and being retried: {reason}. {alarm}',
  'failing/spent':
    'Orders without attempts left: {count}. Their events become dead letters, which only an operator can replay: {reason}.',
  'failing/alarm-key': 'The alarm "API key refused" starts within a few minutes unless a call succeeds.',
  'failing/alarm-service':
    'The alarm "Accounting service unavailable" starts within a few minutes unless a call succeeds.',
  'failing/alarm-third':
    'The alarm "Accounting service unavailable" starts when calls about {count} orders in a row find it unavailable, including the reads of scheduled checks, and "An order keeps failing" when one is 30 minutes behind.',
  'failing/alarm-late': 'The alarm "An order keeps failing" starts when one is 30 minutes behind.',
  'retry/now': 'The worker handles "{event}" now, and the events behind it.',
  'retry/unavailable':
    'The worker handles "{event}" now. It fails again if the accounting service is still unavailable.',
  'retry/unauthorized':
    'The worker handles "{event}" now. It fails again if the accounting service still refuses the API key.',
  'retry/counts': '{effect} A retry counts as one of its attempts.',
  'retry/few':
    '{effect} A retry counts as one of its attempts, after the last of which it becomes a dead letter. Attempts left: {count}.',
  'check/blocked': 'The check waits behind "{event}" and changes nothing until that event succeeds.',
  'check/spent':
    'The check runs as soon as "{event}", which has no attempts left, is a dead letter, by about {time}. {check}',
  'check/bulk':
    'The check follows the other events of the order to the bulk queue. The worker reads the order from the service when its turn comes there.',
  'check/reads': 'The worker reads the order from the service.',
  'check/reads-due': 'The worker reads the order from the service, which is due at {time}.',
  'check/resends': 'The worker reads the order from the service and resends the refused request.',
  'check/resends-due':
    'The worker reads the order from the service and resends the refused request, which is due at {time}.',
  'check/withdraws':
    'The worker reads the order from the service, and the open request is withdrawn unless it is done already.',
  'check/withdraws-due':
    'The worker reads the order from the service, which is due at {time}, and the open request is withdrawn unless it is done already.',
  'check/sends': 'The worker reads the order from the service and sends the open request.',
  'check/sends-due':
    'The worker reads the order from the service and sends the open request, which is due at {time}.',
  'replay/now': 'The worker processes "{event}" immediately.',
  'replay/feed': 'The message returns to the queue of its feed, and its store receives it.',
  'discard/kept':
    'The {kind} is saved with the order: the relay still sends it, usually with a check right after the deletion. If it must not be sent, withdraw it first.',
  'discard/withdrawn':
    'The {kind} is already being withdrawn: the relay reads the order, usually with a check right after the deletion, and withdraws the {kind} unless it is done already.',
  'discard/done': 'Nothing is lost: it is already done.',
  'discard/lost': 'The request is not saved with the order: it is lost, and its store is not notified.',
  'discard/feed':
    'The store does not receive this message. Afterwards, you can send it the current state of the order: {command}',
  'discard/feed-unknown': 'The store does not receive this message.',
  'discard/harmless': 'Nothing is lost once a check has read the order from the service.',
  'withdraw/now': 'The order is read, and the {kind} withdrawn unless it is done already.',
  'withdraw/later':
    'The next attempt of "{event}" that reaches the service reads the order first and withdraws the {kind} unless it is done already.',
  'withdraw/spent':
    'As soon as "{event}", which has no attempts left, is a dead letter, by about {time}, the order is read, and the {kind} withdrawn unless it is done already.',
  'withdraw/bulk':
    "When the order's turn in the bulk queue comes, the order is read, and the {kind} withdrawn unless it is done already.",
} as const

export type WaitingCode = keyof typeof WAITING

export const say = catalogue(WAITING)
