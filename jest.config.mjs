import { availableParallelism } from 'node:os'

export default {
  testEnvironment: 'node',
  testRunner: '<rootDir>/test/support/runner.mjs',
  modulePathIgnorePatterns: ['<rootDir>/\\.(serverless|order-relay)/', '<rootDir>/packages/\\w+/dist/'],
  testMatch: ['<rootDir>/{test,packages}/**/*.test.ts'],
  testSequencer: '<rootDir>/test/support/sequencer.mjs',
  // Many tests wait for child processes, so more workers than cores keep the cores busy.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  // Many tests start a whole stack; no test waits for this timeout.
  testTimeout: 120_000,
  coverageProvider: 'v8',
  coverageReporters: ['text', 'html'],
  // Without the pages, which run in Chromium.
  collectCoverageFrom: [
    '{connectors,deploy,functions,lib,packages}/**/*.ts',
    '!**/*.d.ts',
    '!**/{dist,node_modules,pages,panel,test}/**',
  ],
}
