import { describe } from '@jest/globals'
import { auditTests } from './audit.ts'
import { awsTests } from './aws.ts'
import { policyTests } from './calls.ts'
import { messageTests } from './messages.ts'
import { monitorTests } from './monitor.ts'
import { useLocalStack } from './relay.ts'
import { rotateTests } from './rotate.ts'

/** Everything that needs a whole stack shares one, except setup.test.ts, which takes its registration away. */
useLocalStack()

// First: for a minute after a refused webhook, new secrets are only looked for when one is announced.
describe('rotate', rotateTests)
describe('monitoring', monitorTests)
describe('dead letters and quarantine', messageTests)
describe('audit', auditTests)
describe('on AWS', awsTests)
// Last: it judges what the commands above have called.
describe('the policy for operators', policyTests)
