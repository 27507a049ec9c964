/**
 * A setting from the environment, which serverless.yml fills.
 *
 * @throws when it is missing: a function that cannot work must fail at its start, not at its first order
 */
export const setting = (name: string): string => {
  const value = process.env[name]
  if (value === undefined || value === '')
    throw new Error(`Cannot start: the environment variable ${name} is not set`)
  return value
}
