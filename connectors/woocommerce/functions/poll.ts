import { environment } from '../lib/environment.ts'
import { poller } from '../lib/poll.ts'

const { logger, ...dependencies } = environment()

export const handler = poller({
  ...dependencies,
  log: (message, details) => logger.info(message, details),
  onError: (error, source) => logger.error('shop not polled', { error: error as Error, source }),
})
