// Mutation testing, see docs/mutants.md: npm run proof -- mutate [--mutate lib/protocol/signature.ts]

/** Modules whose rules are all covered by fast tests. */
const MODULES = ['protocol', 'orders', 'webhook', 'worker']

export default {
  mutate: [...MODULES.map(name => `lib/${name}/**/*.ts`), '!**/*.d.ts'],
  mutator: {
    // noUncheckedIndexedAccess requires `?.` on values that always exist.
    excludedMutations: ['OptionalChaining'],
  },
  // A survivor is a missing test or an equivalent mutant. Equivalent mutants are excluded in the source with a reason:
  // `// Stryker disable next-line <mutator>: <reason>`.
  thresholds: { high: 100, low: 100, break: 100 },

  testRunner: 'jest',
  plugins: ['@stryker-mutator/jest-runner'],
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  coverageAnalysis: 'perTest',
  jest: {
    configFile: 'jest.config.mjs',
    config: {
      // Each mutant needs fresh modules in a shared process, which Jest's loader provides per suite.
      testRunner: 'jest-circus/runner',
      extensionsToTreatAsEsm: ['.ts'],
      transform: { '\\.ts$': '<rootDir>/test/mutants/strip-types.mjs' },
      testMatch: MODULES.map(name => `<rootDir>/test/${name}/**/*.test.ts`),
      // Takes seconds per mutant; its rules need fast tests as well.
      testPathIgnorePatterns: ['/test/orders/interleavings\\.test\\.ts$'],
    },
    enableFindRelatedTests: false,
  },
  // Stryker reads tsconfig.json with an API that TypeScript 7 lacks.
  tsconfigFile: 'none',
  ignorePatterns: ['/.*', '/dist', '/reports', '/docs', '/sandbox/panel', '/bench'],
  tempDirName: '.order-relay/mutants',

  concurrency: 1,
  // Jest leaks native modules that are loaded repeatedly.
  maxTestRunnerReuse: 25,
  timeoutMS: 10_000,
  // Tests only changes since the last run; --force tests everything.
  incremental: true,
  incrementalFile: 'reports/mutants.incremental.json',
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportScoreTable: false },
}
