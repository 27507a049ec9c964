import { describe } from '@jest/globals'
import { machineTests, prepareData } from '@order-relay/local/test/machine.ts'
import { awsTests } from '@order-relay/operator/test/aws.ts'
import { auditTests, keyTests, monitorTests, rotateTests } from '@order-relay/operator/test/commands.ts'
import { feedTests } from '@order-relay/operator/test/feeds.ts'
import { messageTests } from '@order-relay/operator/test/messages.ts'
import { storeTests } from 'order-relay-store/test/stack.ts'
import { accountantTests } from './e2e/accountant.ts'
import { openApiTests } from './e2e/openapi.ts'
import { registrationTests } from './e2e/registration.ts'
import { persianTests, relayTests } from './e2e/relay.ts'
import { policyTests } from './support/calls.ts'
import { useFolder } from './support/folder.ts'
import { projectWithPersianStore } from './support/project.ts'
import { useLocalStack } from './support/relay.ts'

/** All tests that need a complete stack share one. */
const folder = useFolder()
useLocalStack({ prepare: prepareData, project: () => projectWithPersianStore(folder('project')) })

// Before tests that refuse a webhook: for a minute afterwards, new secrets are only read if a rotation is announced.
describe('rotate', rotateTests)
// Before tests that refuse a key, for the same reason.
describe('a store', persianTests)
describe('monitoring', monitorTests)
describe('dead letters and quarantine', messageTests)
describe('audit', auditTests)
describe('actions of the accountant', accountantTests)
describe('a store with the package', storeTests)
describe('the ports and files of this machine', machineTests)
describe('keys', keyTests)
describe('the whole relay', relayTests)
describe('a store that registers its URL', registrationTests)
describe('the OpenAPI document', openApiTests)
// After all tests that read these feeds, which resent or undeleted messages would disturb.
describe('feeds', feedTests)
describe('on AWS', awsTests)
// Last, since it evaluates the calls of all commands above.
describe('the policy for operators', policyTests)
