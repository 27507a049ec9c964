export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/strip-types.mjs' },
  modulePathIgnorePatterns: ['<rootDir>/\\.(serverless|order-relay)/'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // Jest takes one worker less than there are cores, which on two cores is one.
  maxWorkers: '100%',
  // Many tests start a whole stack, and machines are slow at times; no test waits for this.
  testTimeout: 45_000,
}
