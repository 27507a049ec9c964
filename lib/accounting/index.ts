// The part of this project that a store can use on its own: `import { accountingClient } from 'order-relay/accounting'`.
export { type Accounting, type AccountingOptions, accountingClient } from './client.ts'
export { AccountingError, type AccountingErrorCode } from './errors.ts'
