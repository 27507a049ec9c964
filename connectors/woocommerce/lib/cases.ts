export const LANGUAGES = ['en', 'fa'] as const
export type Language = (typeof LANGUAGES)[number]
export type Words = Readonly<Record<Language, string>>

/** `stop`: the shop cannot be connected. `problem`, the default: action is required. `note`: for information. */
export const LEVELS = ['stop', 'problem', 'note'] as const
export type Level = (typeof LEVELS)[number]

/**
 * Everything in an order or a shop that can need attention, for the notes of orders, the list and the check. Each text
 * has two sentences: the problem, and the action.
 */
export const CASES = {
  shop_currency: {
    level: 'stop',
    en: 'The currency of the shop is neither the rial nor the toman. Set it to IRR, IRT, IRHR or IRHT.',
    fa: 'واحد پول فروشگاه ریال یا تومان نیست. آن را روی IRR، IRT، IRHR یا IRHT بگذارید.',
  },
  prices_exclude_tax: {
    level: 'stop',
    en: 'Prices in the accounting service exclude tax, so invoices can differ from their orders by a few rials. Turn on "Prices include tax" in the accounting service, or accept the differences with --accept-differences.',
    fa: 'قیمت‌ها در حسابداری بدون مالیات است و جمع فاکتور ممکن است چند ریال با سفارش فرق کند. در حسابداری «قیمت‌ها با احتساب مالیات» را روشن کنید، یا اختلاف را با --accept-differences بپذیرید.',
  },
  currency: {
    en: 'The order is not in rials or tomans, so it is not sent. Create its invoice by hand.',
    fa: 'مبلغ سفارش به ریال یا تومان نیست و سفارش فرستاده نمی‌شود. فاکتورش را دستی ثبت کنید.',
  },
  no_items: {
    en: 'The order has no items. Add items, or cancel the order.',
    fa: 'سفارش کالایی ندارد. کالا اضافه کنید یا سفارش را لغو کنید.',
  },
  no_sku: {
    en: 'A product has no SKU. Enter its code from the accounting service as the SKU.',
    fa: 'کالایی شناسه (SKU) ندارد. کد آن در حسابداری را به‌عنوان شناسه وارد کنید.',
  },
  unknown_sku: {
    en: 'The accounting service has no product with this SKU. Add the product there, or correct the SKU in the shop.',
    fa: 'کالایی با این شناسه در حسابداری نیست. کالا را در حسابداری تعریف کنید یا شناسه را در فروشگاه اصلاح کنید.',
  },
  shared_sku: {
    en: 'A variation has no SKU and uses that of its product. Give each variation its own SKU if the accounting service has a product for each.',
    fa: 'متغیری شناسهٔ جداگانه ندارد و از شناسهٔ کالای اصلی استفاده می‌کند. اگر هر متغیر در حسابداری کالای جداگانه‌ای است، برای هر کدام شناسه وارد کنید.',
  },
  no_customer: {
    en: 'The order has no valid mobile number, and the accounting service has no default customer. Select a default customer in the accounting service.',
    fa: 'سفارش شمارهٔ همراه معتبر ندارد و در حسابداری مشتری پیش‌فرض انتخاب نشده است. مشتری پیش‌فرض را در حسابداری انتخاب کنید.',
  },
  rows_and_total: {
    en: 'The rows of the order do not add up to its total. Open the order in the shop and click "Recalculate".',
    fa: 'جمع ردیف‌های سفارش با مبلغ کل آن برابر نیست. سفارش را در فروشگاه باز کنید و «محاسبهٔ مجدد» را بزنید.',
  },
  tax_rounding: {
    en: 'The invoice has another total, because the accounting service adds tax to each row. Turn on "Prices include tax" in the accounting service.',
    fa: 'جمع فاکتور با سفارش فرق دارد، چون حسابداری مالیات را به هر ردیف اضافه می‌کند. در حسابداری «قیمت‌ها با احتساب مالیات» را روشن کنید.',
  },
  bad_quantity: {
    en: 'The quantity of an item is zero or less. Remove the item, or create the invoice by hand.',
    fa: 'تعداد یکی از کالاها صفر یا منفی است. آن را حذف کنید یا فاکتور را دستی ثبت کنید.',
  },
  bad_amount: {
    en: 'The amount of an item is negative. Enter the discount as a coupon or a negative fee.',
    fa: 'مبلغ یکی از کالاها منفی است. تخفیف را به‌صورت کد تخفیف یا کارمزد منفی وارد کنید.',
  },
  discount_too_large: {
    en: 'The negative fees of the order exceed its items. Create the invoice by hand.',
    fa: 'کارمزدهای منفی سفارش از جمع کالاهایش بیشتر است. فاکتور را دستی ثبت کنید.',
  },
  too_large: {
    en: 'An amount is too large for the accounting service. Create the invoice by hand.',
    fa: 'مبلغی بیش از حد مجاز حسابداری است. فاکتور را دستی ثبت کنید.',
  },
  create_refused: {
    en: 'The accounting service rejected the order. Correct the order; it is then sent again.',
    fa: 'حسابداری سفارش را نپذیرفت. سفارش را اصلاح کنید تا دوباره فرستاده شود.',
  },
  payment_refused: {
    en: 'The accounting service rejected the payment. Register the receipt by hand.',
    fa: 'حسابداری پرداخت را نپذیرفت. رسید را دستی ثبت کنید.',
  },
  refund_refused: {
    en: 'The accounting service rejected the return. Register the return by hand.',
    fa: 'حسابداری برگشت از فروش را نپذیرفت. آن را دستی ثبت کنید.',
  },
  relay_waits: {
    en: 'The accounting service does not accept the order yet. An accountant must remove the cause; the order is then sent again.',
    fa: 'حسابداری هنوز سفارش را نپذیرفته است. حسابدار باید علت را برطرف کند تا سفارش دوباره فرستاده شود.',
  },
  edited: {
    en: 'The order was edited after it was invoiced. Correct the invoice in the accounting service.',
    fa: 'سفارش پس از صدور فاکتور ویرایش شده است. فاکتور را در حسابداری اصلاح کنید.',
  },
  cancelled: {
    en: 'The order was cancelled or deleted after it was invoiced. If the goods came back, register the return in the accounting service.',
    fa: 'سفارش پس از صدور فاکتور لغو یا حذف شده است. اگر کالا برگشته، برگشت از فروش را در حسابداری ثبت کنید.',
  },
  partial_refund: {
    level: 'note',
    en: 'Part of the order was refunded. Register the return of these items in the accounting service.',
    fa: 'بخشی از مبلغ سفارش مسترد شده است. برگشت همان کالاها را در حسابداری ثبت کنید.',
  },
  tax_differs: {
    level: 'note',
    en: 'The tax rate of the order is not that of the accounting service, which the invoice shows. Set the same tax rate in the shop and in the accounting service.',
    fa: 'نرخ مالیات سفارش با نرخ حسابداری، که در فاکتور می‌آید، فرق دارد. نرخ مالیات فروشگاه و حسابداری را یکسان کنید.',
  },
  phone_omitted: {
    level: 'note',
    en: 'The phone number is not a mobile number and is not sent, so the invoice goes to the default customer. To change that, correct the number in the order.',
    fa: 'شمارهٔ تلفن سفارش شمارهٔ همراه نیست و فرستاده نمی‌شود، پس فاکتور به نام مشتری پیش‌فرض ثبت می‌شود. برای تغییر، شماره را در سفارش اصلاح کنید.',
  },
  unmapped_status: {
    level: 'note',
    en: 'Orders with the custom status are not invoiced. If the status means that the order is sold, add it to "statuses" in the settings.',
    fa: 'سفارش‌هایی با این وضعیت سفارشی فاکتور نمی‌شوند. اگر این وضعیت یعنی سفارش فروخته شده، آن را به statuses در تنظیمات اضافه کنید.',
  },
  unknown_products: {
    level: 'note',
    en: 'The products of the accounting service are not known, so SKUs were not compared. Export the products from the accounting service and pass the file with --products.',
    fa: 'فهرست کالاهای حسابداری در دست نیست، بنابراین شناسه‌ها مقایسه نشد. فهرست کالاها را از حسابداری خروجی بگیرید و با --products بدهید.',
  },
} as const satisfies Record<string, Words & { level?: Level }>

export type CaseCode = keyof typeof CASES

/**
 * What needs attention. If the code is about an amount, the detail is that amount, so that a second partial refund is a
 * separate case.
 */
export type Attention = { code: CaseCode; detail: string }

export const levelOf = (code: CaseCode): Level => {
  const { level = 'problem' }: Words & { level?: Level } = CASES[code]
  return level
}

/** The two sentences of a case. */
const sentences = (code: CaseCode, language: Language) => {
  const text = CASES[code][language]
  const end = text.indexOf('. ')
  return { what: text.slice(0, end), action: text.slice(end + 2) }
}

/** The problem, in one sentence. */
export const causeText = (code: CaseCode, language: Language): string => `${sentences(code, language).what}.`

/** The problem, what it concerns, if anything, and the action. */
export const caseText = (code: CaseCode, detail: string, language: Language): string => {
  const { what, action } = sentences(code, language)
  return `${what}${detail && ` (${detail})`}. ${action}`
}

/** An amount in rials, with its unit. */
export const rials = (digits: string | bigint, language: Language): string => {
  const amount = BigInt(digits)
  if (language === 'fa') return `${amount.toLocaleString('fa-IR')} ریال`
  return `${amount.toLocaleString('en')} ${amount === 1n || amount === -1n ? 'rial' : 'rials'}`
}

/** The detail as text; for changes in the shop, it only distinguishes cases. */
const detailOf = ({ code, detail }: Attention, language: Language) => {
  if (code === 'edited' || code === 'cancelled') return ''
  return code === 'rows_and_total' ? rials(detail, language) : detail
}

/** The problem and action of an order in each language. */
export const attentionTexts = (attention: Attention): Words => {
  const text = (language: Language) => caseText(attention.code, detailOf(attention, language), language)
  return { en: text('en'), fa: text('fa') }
}
