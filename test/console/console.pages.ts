import { describe } from '@jest/globals'
import { useLocalStack } from '../cli/relay.ts'
import { prepareData } from '../local/machine.ts'
import { consoleTests } from './console.ts'

useLocalStack({ prepare: prepareData })

describe('the console', consoleTests)
