// What a store can use of this project on its own: `import { accountingClient } from 'order-relay/accounting'`.
export { type Accounting, type AccountingOptions, accountingClient } from './client.ts'
export { AccountingError, type AccountingErrorCode } from './errors.ts'
