import { describe } from '@jest/globals'
import { withBrowser } from '@order-relay/test-support/browser.ts'
import { accessTests } from './panel-access.suite.ts'
import { correctionTests } from './panel-corrections.suite.ts'
import { dateTests } from './panel-dates.suite.ts'
import { documentTests } from './panel-documents.suite.ts'
import { editingTests } from './panel-editing.suite.ts'
import { formTests } from './panel-forms.suite.ts'
import { moneyTests } from './panel-money.suite.ts'
import { orderListTests } from './panel-order-list.suite.ts'
import { orderTests } from './panel-orders.suite.ts'
import { paperTests } from './panel-paper.suite.ts'
import { preventedTests } from './panel-prevented.suite.ts'
import { productTests } from './panel-products.suite.ts'
import { refusalTests } from './panel-refusals.suite.ts'
import { rowTests } from './panel-rows.suite.ts'
import { safeguardTests } from './panel-safeguards.suite.ts'
import { shellTests } from './panel-shell.suite.ts'
import { eachWithSandbox } from './world.ts'

// In this order: pages are closed before the sandbox that serves them.
const openAt = withBrowser()
// The tests use days of UTC.
const client = eachWithSandbox({ timeZone: 'UTC' })

describe('an order', () => orderTests(openAt, client))
describe('the list of orders', () => orderListTests(openAt, client))
describe('corrections', () => correctionTests(openAt, client))
describe('rows of a correction', () => rowTests(openAt, client))
describe('payments, returns and buyers', () => moneyTests(openAt, client))
describe('refused orders', () => refusalTests(openAt, client))
describe('documents', () => documentTests(openAt, client))
describe('paper', () => paperTests(openAt, client))
describe('forms', () => formTests(openAt, client))
describe('safeguards', () => safeguardTests(openAt, client))
describe('prevented actions', () => preventedTests(openAt, client))
describe('settings, accounts and deliveries', () => editingTests(openAt, client))
describe('products', () => productTests(openAt, client))
describe('dates', () => dateTests(openAt, client))
describe('all pages', () => shellTests(openAt, client))
describe('accessibility', () => accessTests(openAt))
