import Sequencer from '@jest/test-sequencer'

/** They take longest, and are small files: before it has measured them, Jest would run them last. */
const FIRST = /test\/(?:stack|conformance\/conformance)\.test\.ts$/

export default class extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests)
    return [true, false].flatMap(first => sorted.filter(({ path }) => FIRST.test(path) === first))
  }
}
