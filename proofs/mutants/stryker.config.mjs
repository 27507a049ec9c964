// Mutation testing, see docs/mutants.md: npm run proof -- mutate [--mutate lib/protocol/signature.ts]

/** The modules in which every rule is held by a quick test. */
const MODULES = ['protocol', 'orders', 'webhook', 'worker']

export default {
  mutate: [...MODULES.map(name => `lib/${name}/**/*.ts`), '!**/*.d.ts'],
  mutator: {
    // `?.` stands where noUncheckedIndexedAccess asks for it, on values that are always there.
    excludedMutations: ['OptionalChaining'],
  },
  // What survives is a missing test or an equivalent mutant; an equivalent one has its reason beside it, in a
  // comment `// Stryker disable next-line <mutator>: <reason>`.
  thresholds: { high: 100, low: 100, break: 100 },

  testRunner: 'jest',
  plugins: ['@stryker-mutator/jest-runner'],
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  coverageAnalysis: 'perTest',
  jest: {
    configFile: 'jest.config.mjs',
    config: {
      // A mutant needs modules of its own in a process that runs many, which Jest's loader gives each suite.
      testRunner: 'jest-circus/runner',
      extensionsToTreatAsEsm: ['.ts'],
      transform: { '\\.ts$': '<rootDir>/test/mutants/strip-types.mjs' },
      testMatch: MODULES.map(name => `<rootDir>/test/${name}/**/*.test.ts`),
      // It takes seconds for each mutant, and a rule that it holds needs a quick test as well.
      testPathIgnorePatterns: ['/test/orders/interleavings\\.test\\.ts$'],
    },
    enableFindRelatedTests: false,
  },
  // Stryker reads tsconfig.json with an API that TypeScript 7 does not have.
  tsconfigFile: 'none',
  ignorePatterns: ['/.*', '/dist', '/reports', '/docs', '/sandbox/panel', '/bench'],
  tempDirName: '.order-relay/mutants',

  concurrency: 1,
  // A Jest that loads native modules again and again keeps every one of them.
  maxTestRunnerReuse: 25,
  timeoutMS: 10_000,
  // Only what changed since the last run is tested again; --force tests everything.
  incremental: true,
  incrementalFile: 'reports/mutants.incremental.json',
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportScoreTable: false },
}
