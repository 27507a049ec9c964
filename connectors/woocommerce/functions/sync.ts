import { batchHandler } from '../lib/batch.ts'
import { environment } from '../lib/environment.ts'
import { synchronizer } from '../lib/synchronize.ts'

const dependencies = environment()

export const handler = batchHandler(synchronizer(dependencies), dependencies.delay, dependencies.logger)
