import { functionIdsOf, pascal, type Resources, ref, type Stack, stackName } from './cloudformation.ts'

const ABOUT = 'source, external_id, delivery'

/** Queries for CloudWatch Logs Insights, by name. The operator fills in the order or delivery. */
export const QUERIES: Readonly<Record<string, string>> = {
  errors: `fields @timestamp, @log, message, ${ABOUT}, error.message, record.status
| filter level in ["WARN", "ERROR", "FATAL"] or record.status in ["timeout", "error", "failure"]
| sort @timestamp desc
| limit 500`,
  order: `fields @timestamp, @log, level, message, event, outcome, status, ${ABOUT}, error.message
| filter source = "api" and external_id = ""
| sort @timestamp`,
  delivery: `fields @timestamp, @log, level, message, event, outcome, status, ${ABOUT}, error.message
| filter delivery = "" or feed_delivery = ""
| sort @timestamp`,
  'retries-by-order': `filter message in ["event retried", "feed message retried"]
| stats count(*) as retries, max(receives) as receives, latest(error.message) as error by source, external_id
| sort retries desc
| limit 100`,
  functions: `filter type = "platform.report"
| stats count(*) as invocations, count(record.metrics.initDurationMs) as cold_starts,
    pct(record.metrics.durationMs, 99) as p99_ms, max(record.metrics.maxMemoryUsedMB) as max_memory_mb by @log`,
}

/** The saved queries of a stack, in a folder with its name. */
export const queryResources = (stack: Pick<Stack, 'stage' | 'stores'>): Resources =>
  Object.fromEntries(
    Object.entries(QUERIES).map(([name, QueryString]) => [
      `${pascal(name)}Query`,
      {
        Type: 'AWS::Logs::QueryDefinition',
        Properties: {
          Name: `${stackName(stack.stage)}/${name}`,
          LogGroupNames: functionIdsOf(stack).map(id => ref(`${id}LogGroup`)),
          QueryString,
        },
      },
    ]),
  )
