import { environment } from '../lib/environment.ts'
import { receiver } from '../lib/receiver.ts'

export const handler = receiver(environment())
