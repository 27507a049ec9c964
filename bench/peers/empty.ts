/** A function that does nothing: what Node and Lambda's runtime cost by themselves. */
export const handler = async () => ({ statusCode: 200, body: '{}' })
