/** Tests run as native ES modules; swc only strips the types, so a test sees what Lambda's Node sees. */
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': ['@swc/jest', { jsc: { target: 'es2024', parser: { syntax: 'typescript' } } }] },
  modulePathIgnorePatterns: ['<rootDir>/\\.(serverless|esbuild|order-relay)/'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // Many tests start a whole stack, and machines are slow at times; no test waits for this.
  testTimeout: 45_000,
  // What a test that failed has left running must not hold up the gate for ever: it ends with this process.
  forceExit: true,
}
