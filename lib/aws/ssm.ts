import type { GetParameterRequest, GetParametersByPathRequest } from '@aws-sdk/client-ssm'
import * as v from 'valibot'
import type { Call } from './call.ts'

const parameter = v.object({ Name: v.optional(v.string()), Value: v.optional(v.string()) })
const one = v.object({ Parameter: v.optional(parameter) })
const page = v.object({ Parameters: v.optional(v.array(parameter)), NextToken: v.nullish(v.string()) })

/** What is used of Parameter Store. The class `SSM` of AWS's SDK has these methods too, and can stand in. */
export type Ssm = {
  getParameter: (input: GetParameterRequest) => Promise<v.InferOutput<typeof one>>
  getParametersByPath: (input: GetParametersByPathRequest) => Promise<v.InferOutput<typeof page>>
}

export const SSM = { name: 'ssm', target: 'AmazonSSM', version: '1.1' } as const

export const ssm = (call: Call): Ssm => ({
  getParameter: async input => v.parse(one, await call('GetParameter', input)),
  getParametersByPath: async input => v.parse(page, await call('GetParametersByPath', input)),
})
