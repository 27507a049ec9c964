import { STORE_KEYS, storeKeyParameter, storeKeys } from '../../lib/api/keys.ts'
import { unavailable as requestUnavailable } from '../../lib/api/refusals.ts'
import { type HttpRequest, serve } from '../../lib/api/serve.ts'
import type { Answer } from '../../lib/http.ts'
import { lineProducer } from '../../lib/line/producer.ts'
import { ordersTable } from '../../lib/orders/table.ts'
import { quarantineQueue } from '../../lib/quarantine.ts'
import { reconcile } from '../../lib/reconcile/reconcile.ts'
import { unsettledIndex } from '../../lib/reconcile/unsettled.ts'
import { parametersBelow, webhookSecrets } from '../../lib/secrets.ts'
import { answer, unavailable } from '../../lib/webhook/answer.ts'
import { deliveriesTable } from '../../lib/webhook/deliveries.ts'
import { type Delivery, type Ports, receive } from '../../lib/webhook/receive.ts'
import { awsOf, type Cloud } from './aws.ts'
import type { Clock } from './clock.ts'
import { end, type Instance, type MakeCall, startInstance } from './faults.ts'
import type { Place } from './places.ts'

export const LINE = 'https://sqs.example/1/order-line.fifo'
export const QUARANTINE = 'https://sqs.example/1/quarantine'
const SECRETS = '/order-relay/proof'
export const SECRET = 'whsec_proof'
export const STORE_KEY = 'store-key-proof'
export const SOURCE = 'shop'
export const PARAMETERS = {
  [`${SECRETS}/webhook-secrets/one`]: SECRET,
  [storeKeyParameter(SECRETS, SOURCE, STORE_KEY).Name]: storeKeyParameter(SECRETS, SOURCE, STORE_KEY).Value,
}

/** A change to the ports of the receiving path, to plant a bug in it. */
export type Tampering = (ports: Ports, delivery: Delivery) => Ports

const isOurs = (source: string) => source === SOURCE

/** Hears the answer that came back, or undefined when none did. */
type Heard = (answer: Answer | undefined) => void

/**
 * The doors as API Gateway and the scheduler open them: each request is met by an instance that has just been
 * started, so that it passes every await there is.
 */
export const doors = (clock: Clock, call: MakeCall, cloud: Cloud, tampering: Tampering) => {
  let ids = 0
  const newId = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`
  const seconds = () => Math.floor(clock.now() / 1000)

  const respond = (instance: Instance, place: Place, answering: Promise<Answer>, heard: Heard) => {
    let told = false
    const tell: Heard = answer => {
      if (!told) heard(answer)
      told = true
    }
    // Its first call may have ended it already.
    if (!instance.alive) return tell(undefined)
    instance.ended.push(() => tell(undefined))
    answering
      .then(answer => call(instance, place, () => tell(answer)))
      .catch(() => tell(undefined))
      .finally(() => end(instance))
  }

  return {
    webhook(delivery: Delivery, heard: Heard) {
      const instance = startInstance()
      const { dynamodb, sqs, ssm } = awsOf('webhook', instance, call, cloud)
      const ports = tampering(
        {
          secrets: webhookSecrets(parametersBelow(ssm, `${SECRETS}/webhook-secrets`), [], clock.now),
          isOurs,
          deliveries: deliveriesTable(dynamodb, 'deliveries'),
          enqueue: lineProducer(sqs, LINE),
          quarantine: quarantineQueue(sqs, QUARANTINE),
          now: seconds,
        },
        delivery,
      )
      const answering = receive(delivery, ports).then(answer, () => unavailable)
      respond(instance, 'webhook: answer', answering, heard)
    },

    api(request: HttpRequest, heard: Heard) {
      const instance = startInstance()
      const { dynamodb, sqs, ssm } = awsOf('api', instance, call, cloud)
      const answering = serve(request, {
        sourceOf: storeKeys(parametersBelow(ssm, `${SECRETS}/${STORE_KEYS}`), clock.now),
        isOurs,
        orders: ordersTable(dynamodb, 'orders', () => 0.5),
        enqueue: lineProducer(sqs, LINE),
        newId,
      }).then(
        ({ answer }) => answer,
        () => requestUnavailable,
      )
      respond(instance, 'api: answer', answering, heard)
    },

    reconcile() {
      const instance = startInstance()
      const { dynamodb, sqs } = awsOf('reconcile', instance, call, cloud)
      reconcile({
        unsettled: unsettledIndex(dynamodb, 'orders'),
        enqueue: lineProducer(sqs, LINE),
        now: seconds,
        random: () => 0.5,
      })
        .catch(() => undefined)
        .finally(() => end(instance))
    },
  }
}

export type Doors = ReturnType<typeof doors>
