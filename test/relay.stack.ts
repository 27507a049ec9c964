import { describe } from '@jest/globals'
import { machineTests, prepareData } from '@order-relay/local/test/machine.suite.ts'
import { auditTests } from '@order-relay/operator/test/audit.suite.ts'
import { awsTests } from '@order-relay/operator/test/aws.suite.ts'
import { feedTests } from '@order-relay/operator/test/feeds.suite.ts'
import { keyTests } from '@order-relay/operator/test/keys.suite.ts'
import { messageTests } from '@order-relay/operator/test/messages.suite.ts'
import { monitorTests } from '@order-relay/operator/test/monitor.suite.ts'
import { rotateTests } from '@order-relay/operator/test/rotate.suite.ts'
import { storeTests } from 'order-relay-store/test/store.suite.ts'
import { accountantTests } from './e2e/accountant.suite.ts'
import { openApiTests } from './e2e/openapi.suite.ts'
import { registrationTests } from './e2e/registration.suite.ts'
import { persianTests, relayTests } from './e2e/relay.suite.ts'
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
