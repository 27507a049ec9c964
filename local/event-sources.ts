import type { SQSClient } from '@aws-sdk/client-sqs'
import { type EventSource, startEventSource } from './event-source.ts'
import { ACCOUNT_ID, type Resolve } from './intrinsics.ts'
import { type Invoke, invoker } from './invoke.ts'
import type { Service } from './service.ts'
import { type Ports, urlOf } from './settings.ts'
import type { Turnstile } from './turnstile.ts'

export type { EventSource }

export type EventSourcesOptions = {
  service: Service
  resolve: Resolve
  ports: Ports
  sqs: SQSClient
  turnstile: Turnstile
  onError: (error: unknown) => void
}

const through =
  ({ enter, leave }: Turnstile, invoke: Invoke): Invoke =>
  async event => {
    await enter()
    try {
      return await invoke(event)
    } finally {
      leave()
    }
  }

/** Starts an event source for each `sqs` event of each function. */
export const startEventSources = (options: EventSourcesOptions): EventSource[] => {
  const { service, resolve, ports, sqs, turnstile, onError } = options
  return Object.entries(service.functions).flatMap(([key, { name, events }]) =>
    events.flatMap(({ sqs: event }) => {
      if (event === undefined || !event.enabled) return []
      const arn = resolve(event.arn, `functions.${key}.events.sqs.arn`)
      const queueName = arn.slice(arn.lastIndexOf(':') + 1)
      return [
        startEventSource({
          sqs,
          queue: {
            url: `${urlOf(ports.sqs)}/${ACCOUNT_ID}/${queueName}`,
            arn,
            region: service.provider.region,
          },
          batchSize: event.batchSize,
          reportsFailures: event.functionResponseType === 'ReportBatchItemFailures',
          invoke: through(turnstile, invoker({ port: ports.lambda, functionName: name })),
          onError,
        }),
      ]
    }),
  )
}
