/** The module that tests import as `@jest/globals`. */
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } = globalThis
