import { batchHandler } from '../lib/batch.ts'
import { environment } from '../lib/environment.ts'
import { synchroniser } from '../lib/synchronise.ts'

const dependencies = environment()

export const handler = batchHandler(synchroniser(dependencies), dependencies.delay, dependencies.logger)
