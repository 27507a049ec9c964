// A folder with its own lock file, since only page tests and screenshots need these packages (test/tool.ts).

export { default as axe } from 'axe-core'
export { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
