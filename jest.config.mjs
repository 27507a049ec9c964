/** Tests run as native ES modules; swc only strips the types, so a test sees what Lambda's Node sees. */
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': ['@swc/jest', { jsc: { target: 'es2024', parser: { syntax: 'typescript' } } }] },
  modulePathIgnorePatterns: ['<rootDir>/\\.(serverless|esbuild|order-relay)/'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
}
