/** Increases with every incompatible change of the tables. */
export const SCHEMA_VERSION = 15

/** The columns of an order whose sums are kept. */
const SUMMED = ['net', 'tax', 'received', 'returned', 'repaid'] as const

const ADD = `INSERT INTO order_sums
    VALUES (NEW.date, NEW.source, NEW.status, 1, ${SUMMED.map(each => `NEW.${each}`)})
    ON CONFLICT DO UPDATE SET count = count + 1, ${SUMMED.map(each => `${each} = plus(${each}, NEW.${each})`)};`

/**
 * The tables. Amounts and stock are decimal texts, because SQLite has no exact type for them.
 *
 * Invoice, receipt, return and repayment numbers are integer primary keys without AUTOINCREMENT: SQLite gives
 * each row the highest number plus one within its transaction. Documents are cancelled, never deleted, so the numbers
 * have neither gaps nor repeats.
 */
export const SCHEMA = `
CREATE TABLE customers (
  code TEXT PRIMARY KEY,
  mobile TEXT UNIQUE,
  name TEXT NOT NULL,
  email TEXT,
  economic_code TEXT NOT NULL DEFAULT '',
  national_id TEXT NOT NULL DEFAULT '',
  address TEXT NOT NULL DEFAULT '',
  postal_code TEXT NOT NULL DEFAULT '',
  phone TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE TABLE accounts (
  code TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('cash', 'bank')),
  opening_balance TEXT NOT NULL,
  opening_date TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  default_customer TEXT REFERENCES customers (code),
  automatic_customer_creation INTEGER NOT NULL CHECK (automatic_customer_creation IN (0, 1)),
  receiving_account TEXT REFERENCES accounts (code),
  tax_rate TEXT NOT NULL,
  prices_include_tax INTEGER NOT NULL CHECK (prices_include_tax IN (0, 1)),
  automatic_finalization INTEGER NOT NULL CHECK (automatic_finalization IN (0, 1)),
  duplicates_return_original INTEGER NOT NULL CHECK (duplicates_return_original IN (0, 1)),
  corrections_send_webhooks INTEGER NOT NULL CHECK (corrections_send_webhooks IN (0, 1))
) STRICT;

-- What invoices say about the seller.
CREATE TABLE seller (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  name TEXT NOT NULL,
  economic_code TEXT NOT NULL,
  national_id TEXT NOT NULL,
  address TEXT NOT NULL,
  postal_code TEXT NOT NULL,
  phone TEXT NOT NULL
) STRICT;

CREATE TABLE fiscal_years (
  first_day TEXT NOT NULL,
  last_day TEXT NOT NULL,
  closed INTEGER NOT NULL CHECK (closed IN (0, 1)),
  PRIMARY KEY (first_day, last_day),
  CHECK (first_day <= last_day)
) STRICT, WITHOUT ROWID;

CREATE TABLE products (
  sku TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  stock TEXT NOT NULL,
  price TEXT,
  unit TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE orders (
  invoice_number INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  external_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('needs_review', 'invoiced', 'paid', 'refunded')),
  error TEXT CHECK ((error IS NULL) = (status <> 'needs_review')),
  date TEXT NOT NULL,
  customer_code TEXT NOT NULL REFERENCES customers (code),
  tax_rate TEXT NOT NULL,
  prices_include_tax INTEGER NOT NULL CHECK (prices_include_tax IN (0, 1)),
  amount TEXT NOT NULL,
  order_discount TEXT NOT NULL,
  net TEXT NOT NULL,
  tax TEXT NOT NULL,
  total TEXT NOT NULL,
  received TEXT NOT NULL DEFAULT '0',
  returned TEXT NOT NULL DEFAULT '0',
  repaid TEXT NOT NULL DEFAULT '0',
  receipt_number INTEGER REFERENCES receipts (number),
  return_number INTEGER REFERENCES returns (number),
  original TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (source, external_id)
) STRICT;
CREATE INDEX orders_by_status ON orders (status);
CREATE INDEX orders_by_source ON orders (source);
CREATE INDEX orders_by_date ON orders (date);
CREATE INDEX orders_by_total ON orders (length(total), total);
CREATE INDEX orders_by_change ON orders (updated_at);

-- The count and the sums of the orders by what they are filtered by, so that no list adds up all orders.
CREATE TABLE order_sums (
  date TEXT NOT NULL,
  source TEXT NOT NULL,
  status TEXT NOT NULL,
  count INTEGER NOT NULL,
  net TEXT NOT NULL,
  tax TEXT NOT NULL,
  received TEXT NOT NULL,
  returned TEXT NOT NULL,
  repaid TEXT NOT NULL,
  PRIMARY KEY (date, source, status)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER order_inserted AFTER INSERT ON orders BEGIN
  ${ADD}
END;
CREATE TRIGGER order_updated AFTER UPDATE OF date, status, ${SUMMED} ON orders BEGIN
  UPDATE order_sums SET count = count - 1, ${SUMMED.map(each => `${each} = plus(${each}, '-' || OLD.${each})`)}
    WHERE date = OLD.date AND source = OLD.source AND status = OLD.status;
  ${ADD}
END;

-- The seller and buyer of finalized invoices outside the open fiscal years, as JSON.
CREATE TABLE closed_invoices (
  invoice_number INTEGER PRIMARY KEY REFERENCES orders (invoice_number),
  seller TEXT NOT NULL,
  buyer TEXT NOT NULL
) STRICT;

-- The searchable words of an order, by invoice number, and separately the references of its documents. Trigrams find any part
-- of a word of three characters or more.
CREATE VIRTUAL TABLE search USING fts5 (text, refs, tokenize = 'trigram case_sensitive 1');

CREATE TABLE invoice_rows (
  invoice_number INTEGER NOT NULL REFERENCES orders (invoice_number),
  position INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('item', 'shipping')),
  sku TEXT REFERENCES products (sku) CHECK ((sku IS NULL) = (kind = 'shipping')),
  name TEXT NOT NULL,
  unit TEXT CHECK ((unit IS NULL) = (kind = 'shipping')),
  quantity TEXT NOT NULL,
  unit_price TEXT NOT NULL,
  discount TEXT NOT NULL,
  amount TEXT NOT NULL,
  order_discount TEXT NOT NULL,
  net TEXT NOT NULL,
  tax TEXT NOT NULL,
  PRIMARY KEY (invoice_number, position)
) STRICT, WITHOUT ROWID;

-- A payment without an amount pays the whole invoice; one without an account, into the receiving account. The total is that
-- of the invoice when the payment came in. A payment that a store has sent for the whole invoice stays whole if the accountant
-- gives it an amount.
CREATE TABLE held_payments (
  number INTEGER PRIMARY KEY,
  invoice_number INTEGER NOT NULL REFERENCES orders (invoice_number),
  amount TEXT,
  method TEXT NOT NULL,
  reference TEXT NOT NULL,
  note TEXT NOT NULL,
  date TEXT NOT NULL,
  account_code TEXT REFERENCES accounts (code),
  total TEXT NOT NULL,
  whole INTEGER NOT NULL CHECK (whole IN (0, 1))
) STRICT;
CREATE INDEX held_payments_of_invoice ON held_payments (invoice_number);

CREATE TABLE receipts (
  number INTEGER PRIMARY KEY,
  invoice_number INTEGER NOT NULL REFERENCES orders (invoice_number),
  method TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('cash', 'transfer', 'pos')),
  amount TEXT NOT NULL,
  reference TEXT NOT NULL,
  note TEXT NOT NULL,
  date TEXT NOT NULL,
  account_code TEXT REFERENCES accounts (code),
  created_at TEXT NOT NULL,
  cancelled_at TEXT,
  cancel_reason TEXT CHECK (cancelled_at IS NOT NULL OR cancel_reason IS NULL),
  whole INTEGER NOT NULL DEFAULT 0 CHECK (whole IN (0, 1))
) STRICT;
CREATE INDEX receipts_of_invoice ON receipts (invoice_number);
CREATE INDEX receipts_of_account ON receipts (account_code);
CREATE INDEX receipts_by_reference ON receipts (reference);

CREATE TABLE returns (
  number INTEGER PRIMARY KEY,
  invoice_number INTEGER NOT NULL REFERENCES orders (invoice_number),
  date TEXT NOT NULL,
  reason TEXT,
  amount TEXT NOT NULL,
  created_at TEXT NOT NULL,
  cancelled_at TEXT,
  cancel_reason TEXT CHECK (cancelled_at IS NOT NULL OR cancel_reason IS NULL)
) STRICT;
CREATE INDEX returns_of_invoice ON returns (invoice_number);

-- Money paid back to the buyer.
CREATE TABLE repayments (
  number INTEGER PRIMARY KEY,
  invoice_number INTEGER NOT NULL REFERENCES orders (invoice_number),
  method TEXT NOT NULL,
  amount TEXT NOT NULL,
  reference TEXT NOT NULL,
  note TEXT NOT NULL,
  date TEXT NOT NULL,
  account_code TEXT NOT NULL REFERENCES accounts (code),
  created_at TEXT NOT NULL,
  cancelled_at TEXT,
  cancel_reason TEXT CHECK (cancelled_at IS NOT NULL OR cancel_reason IS NULL)
) STRICT;
CREATE INDEX repayments_of_invoice ON repayments (invoice_number);
CREATE INDEX repayments_of_account ON repayments (account_code);

-- What a return takes back of the invoice row at a position, described as it was sold: a correction after the return is
-- cancelled replaces the row.
CREATE TABLE return_rows (
  return_number INTEGER NOT NULL REFERENCES returns (number),
  position INTEGER NOT NULL,
  sku TEXT,
  name TEXT NOT NULL,
  unit TEXT,
  unit_price TEXT NOT NULL,
  quantity TEXT NOT NULL,
  net TEXT NOT NULL,
  tax TEXT NOT NULL,
  PRIMARY KEY (return_number, position)
) STRICT, WITHOUT ROWID;

-- Every change of the stock of a product.
CREATE TABLE stock_moves (
  number INTEGER PRIMARY KEY,
  sku TEXT NOT NULL REFERENCES products (sku),
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  invoice_number INTEGER REFERENCES orders (invoice_number),
  reason TEXT,
  before TEXT NOT NULL,
  after TEXT NOT NULL
) STRICT;
CREATE INDEX stock_moves_of_product ON stock_moves (sku, number);

CREATE TABLE history (
  invoice_number INTEGER NOT NULL REFERENCES orders (invoice_number),
  position INTEGER NOT NULL,
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY (invoice_number, position)
) STRICT, WITHOUT ROWID;

-- Orders that were refused, by their last refusal.
CREATE TABLE refusals (
  number INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  external_id TEXT NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  field TEXT,
  body TEXT,
  attempts INTEGER NOT NULL,
  first_at TEXT NOT NULL,
  last_at TEXT NOT NULL,
  resolved_at TEXT,
  UNIQUE (source, external_id)
) STRICT;
-- Without it, the times are read from behind the bodies.
CREATE INDEX refusals_by_time ON refusals (last_at);

CREATE TABLE webhooks (
  url TEXT PRIMARY KEY,
  secret TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
  number INTEGER PRIMARY KEY,
  delivery TEXT NOT NULL UNIQUE,
  invoice_number INTEGER NOT NULL REFERENCES orders (invoice_number),
  url TEXT NOT NULL,
  status TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  tries INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  next_attempt_at TEXT CHECK ((next_attempt_at IS NOT NULL) = (state = 'pending'))
) STRICT;
CREATE INDEX deliveries_due ON deliveries (next_attempt_at) WHERE state = 'pending';
CREATE INDEX deliveries_by_order ON deliveries (invoice_number, number);

CREATE TABLE attempts (
  number INTEGER PRIMARY KEY,
  delivery TEXT NOT NULL REFERENCES deliveries (delivery),
  at TEXT NOT NULL,
  t INTEGER NOT NULL,
  status INTEGER,
  signature TEXT NOT NULL,
  latency_ms INTEGER NOT NULL,
  error TEXT,
  response TEXT
) STRICT;
CREATE INDEX attempts_by_delivery ON attempts (delivery, number);

PRAGMA user_version = ${SCHEMA_VERSION};
`
