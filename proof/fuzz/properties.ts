import type fc from 'fast-check'
import { errorProperty, retryAfterProperty } from './answers.ts'
import { apiProperty } from './api.ts'
import { lineProperty } from './line.ts'
import { changedSignatureProperty, signatureProperty } from './signature.ts'
import { storesFileProperty } from './stores-file.ts'
import { authenticProperty, forgedProperty } from './webhook.ts'

type Property = fc.IProperty<unknown> | fc.IAsyncProperty<unknown>

/** Every trust boundary, what must hold there, and its share of the cases. */
export const PROPERTIES: readonly { name: string; share: number; property: () => Property }[] = [
  { name: 'the signature header', share: 3, property: signatureProperty },
  { name: 'a signature header that was right', share: 1, property: changedSignatureProperty },
  { name: 'the body of an authentic webhook', share: 5, property: authenticProperty },
  { name: 'a forged webhook', share: 1, property: forgedProperty },
  { name: "a request to the stores' API", share: 5, property: apiProperty },
  { name: 'messages on the order line', share: 5, property: lineProperty },
  { name: 'errors of the accounting service', share: 2, property: errorProperty },
  { name: 'Retry-After of the accounting service', share: 1, property: retryAfterProperty },
  { name: 'stores.yml', share: 2, property: storesFileProperty },
]

/** Nothing may be written where every object reads. */
export const isPolluted = (): boolean => Object.keys(Object.prototype).length > 0 || 'polluted' in {}
