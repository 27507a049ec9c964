import Sequencer from '@jest/test-sequencer'

/** The slowest suites. Their files are small, so Jest would run them last until it has measured them. */
const FIRST = /\/(?:relay\.stack|conformance\/\w+\.test)\.ts$/

export default class extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests)
    return [true, false].flatMap(first => sorted.filter(({ path }) => FIRST.test(path) === first))
  }
}
