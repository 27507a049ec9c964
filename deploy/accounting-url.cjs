// Read only when nobody said where the accounting service is. The local stack has its own; what is deployed
// must know, and shall not find out at its first order.
module.exports = async ({ resolveVariable }) => {
  if ((await resolveVariable('sls:stage')) === 'local') return ''
  const error = new Error(
    'Cannot deploy: the base URL of the accounting service is not set; ' +
      'set ACCOUNTING_URL, such as ACCOUNTING_URL=https://accounting.example, or add --param="accountingUrl=..."',
  )
  // The stack is what serverless would show instead of the message.
  error.stack = error.message
  throw error
}
