// The minimum of aws-lambda-ric, for machines without it: asks the Runtime API for an event, calls the handler and
// sends its result.

const { request } = process.getBuiltinModule('node:http')
const { join } = process.getBuiltinModule('node:path')

const [file, name] = process.env._HANDLER.split('.')
const { [name]: handler } = await import(join(process.env.LAMBDA_TASK_ROOT, `${file}.mjs`))
const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':')

const call = (method, path, body) =>
  new Promise((resolve, reject) => {
    request({ hostname, port, method, path: `/2018-06-01/runtime/invocation/${path}` }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve({ headers: response.headers, text }))
    })
      .on('error', reject)
      .end(body)
  })

for (;;) {
  const { headers, text } = await call('GET', 'next')
  process.env._X_AMZN_TRACE_ID = headers['lambda-runtime-trace-id']
  const id = headers['lambda-runtime-aws-request-id']
  const context = {
    awsRequestId: id,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    getRemainingTimeInMillis: () => Number(headers['lambda-runtime-deadline-ms']) - Date.now(),
  }
  try {
    await call('POST', `${id}/response`, JSON.stringify(await handler(JSON.parse(text), context)))
  } catch (error) {
    await call('POST', `${id}/error`, JSON.stringify({ errorMessage: String(error) }))
  }
}
