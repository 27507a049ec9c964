import { describe } from '@jest/globals'
import { machineTests, prepareData } from '@order-relay/local/test/machine.ts'
import { awsTests } from '@order-relay/operator/test/aws.ts'
import { auditTests, keyTests, monitorTests, rotateTests } from '@order-relay/operator/test/commands.ts'
import { feedTests } from '@order-relay/operator/test/feeds.ts'
import { messageTests } from '@order-relay/operator/test/messages.ts'
import { storeTests } from 'order-relay-store/test/stack.ts'
import { accountantTests } from './e2e/accountant.ts'
import { persianTests, projectWithPersianStore, relayTests } from './e2e/relay.ts'
import { policyTests } from './support/calls.ts'
import { useFolder } from './support/folder.ts'
import { useLocalStack } from './support/relay.ts'

/** Everything that needs a whole stack shares one. */
const folder = useFolder()
useLocalStack({ prepare: prepareData, project: () => projectWithPersianStore(folder('project')) })

// Before a webhook is refused: for a minute after it, new secrets are only looked for when one is announced.
describe('rotate', rotateTests)
// Before a key is refused, for the same reason.
describe('a store', persianTests)
describe('monitoring', monitorTests)
describe('dead letters and quarantine', messageTests)
describe('audit', auditTests)
describe('actions of the accountant', accountantTests)
describe('a store with the package', storeTests)
describe('the ports and files of this machine', machineTests)
describe('keys', keyTests)
describe('the whole relay', relayTests)
// After all who read these feeds: what is resent, and what is received without being deleted, would be in their way.
describe('feeds', feedTests)
describe('on AWS', awsTests)
// Last: it judges what the commands above have called.
describe('the policy for operators', policyTests)
