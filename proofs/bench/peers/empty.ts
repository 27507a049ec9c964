/** A function that does nothing: the cost of Node and Lambda's runtime alone. */
export const handler = async () => ({ statusCode: 200, body: '{}' })
