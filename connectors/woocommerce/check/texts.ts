import type { Language } from '../lib/words.ts'

type Words = Record<Language, string>

/** `stop`: the shop cannot be connected. `problem`: somebody has to act, or orders fail. `note`: worth knowing. */
export type Level = 'stop' | 'problem' | 'note'

/** What a finding means, and what to do about it; the worst first. */
export const FINDINGS = {
  shop_currency: {
    level: 'stop',
    means: {
      en: "The shop's currency is not one of IRR, IRT, IRHR and IRHT.",
      fa: 'واحد پول فروشگاه هیچ‌یک از IRR، IRT، IRHR و IRHT نیست.',
    },
    action: {
      en: 'Only orders in rials or tomans can become invoices: change the currency of the shop.',
      fa: 'فقط سفارش‌های ریالی و تومانی فاکتور می‌شوند؛ واحد پول فروشگاه را تغییر دهید.',
    },
  },
  prices_exclude_tax: {
    level: 'stop',
    means: {
      en: "The accounting's prices exclude tax, so that it rounds the tax of each row and totals can differ by a few rials.",
      fa: 'قیمت‌ها در حسابداری بدون مالیات است؛ مالیات هر ردیف جداگانه گرد می‌شود و جمع فاکتور ممکن است چند ریال فرق کند.',
    },
    action: {
      en: 'Switch on "Prices include tax" in the accounting, or accept the differences with --accept-differences.',
      fa: 'در حسابداری «قیمت‌ها شامل مالیات است» را روشن کنید، یا با --accept-differences اختلاف را بپذیرید.',
    },
  },
  currency: {
    level: 'problem',
    means: {
      en: 'Orders are in a currency other than rials and tomans; they are not sent.',
      fa: 'واحد پول این سفارش‌ها ریال یا تومان نیست و فرستاده نمی‌شوند.',
    },
    action: { en: 'Register these invoices by hand.', fa: 'فاکتور این سفارش‌ها را دستی ثبت کنید.' },
  },
  no_sku: {
    level: 'problem',
    means: { en: 'Products have no SKU.', fa: 'این کالاها شناسهٔ کالا (SKU) ندارند.' },
    action: {
      en: "Enter the accounting's product code as the SKU of each product and variation.",
      fa: 'کد کالا در حسابداری را به‌عنوان شناسهٔ هر کالا و هر متغیر وارد کنید.',
    },
  },
  unknown_sku: {
    level: 'problem',
    means: { en: 'The accounting has no product with the SKU.', fa: 'کالایی با این شناسه در حسابداری نیست.' },
    action: {
      en: 'Add the product to the accounting, or correct the SKU in the shop; its orders are refused until then.',
      fa: 'کالا را در حسابداری تعریف کنید یا شناسه را در فروشگاه اصلاح کنید؛ تا آن زمان سفارش‌هایش پذیرفته نمی‌شود.',
    },
  },
  shared_sku: {
    level: 'problem',
    means: {
      en: 'Variations have no SKU of their own and use that of their product.',
      fa: 'این متغیرها شناسهٔ جداگانه ندارند و از شناسهٔ کالای اصلی استفاده می‌کنند.',
    },
    action: {
      en: 'Give each variation its SKU if the accounting keeps their stock separately.',
      fa: 'اگر موجودی هر متغیر در حسابداری جداست، برای هر کدام شناسه وارد کنید.',
    },
  },
  no_customer: {
    level: 'problem',
    means: {
      en: 'Orders have no mobile number, and the accounting has no default customer.',
      fa: 'این سفارش‌ها شمارهٔ همراه ندارند و در حسابداری مشتری پیش‌فرض انتخاب نشده است.',
    },
    action: {
      en: 'Select a default customer in the accounting; such orders are refused until then.',
      fa: 'در حسابداری مشتری پیش‌فرض را انتخاب کنید؛ تا آن زمان این سفارش‌ها پذیرفته نمی‌شوند.',
    },
  },
  rows_and_total: {
    level: 'problem',
    means: {
      en: "The rows of the orders do not add up to their totals, by more than rounding explains; an order's price was probably edited.",
      fa: 'جمع ردیف‌های این سفارش‌ها با مبلغ کل نمی‌خواند و اختلاف بیش از گرد کردن است؛ احتمالاً مبلغ سفارش ویرایش شده است.',
    },
    action: {
      en: 'Open the order in the shop and click "Recalculate".',
      fa: 'سفارش را در فروشگاه باز کنید و دکمهٔ «محاسبهٔ مجدد» را بزنید.',
    },
  },
  tax_rounding: {
    level: 'problem',
    means: {
      en: 'The invoice total differs from that of the shop, since the accounting adds tax to each row.',
      fa: 'جمع فاکتور با مبلغ سفارش فرق دارد، چون حسابداری مالیات را به هر ردیف اضافه می‌کند.',
    },
    action: {
      en: 'Switch on "Prices include tax" in the accounting.',
      fa: 'در حسابداری «قیمت‌ها شامل مالیات است» را روشن کنید.',
    },
  },
  bad_quantity: {
    level: 'problem',
    means: { en: 'Rows have a quantity of zero or less.', fa: 'تعداد در بعضی ردیف‌ها صفر یا منفی است.' },
    action: {
      en: 'Remove the row from the order, or register the invoice by hand.',
      fa: 'ردیف را از سفارش حذف کنید یا فاکتور را دستی ثبت کنید.',
    },
  },
  bad_amount: {
    level: 'problem',
    means: { en: 'Rows have a negative amount.', fa: 'مبلغ بعضی ردیف‌ها منفی است.' },
    action: {
      en: 'Enter discounts as a coupon or as a negative fee.',
      fa: 'تخفیف را به‌صورت کد تخفیف یا کارمزد منفی وارد کنید.',
    },
  },
  discount_too_large: {
    level: 'problem',
    means: {
      en: 'Negative fees exceed the items of the order.',
      fa: 'کارمزدهای منفی از جمع کالاهای سفارش بیشتر است.',
    },
    action: { en: 'Register these invoices by hand.', fa: 'فاکتور این سفارش‌ها را دستی ثبت کنید.' },
  },
  too_large: {
    level: 'problem',
    means: { en: 'Amounts are too large.', fa: 'مبلغ‌ها بیش از حد بزرگ است.' },
    action: { en: 'Register these invoices by hand.', fa: 'فاکتور این سفارش‌ها را دستی ثبت کنید.' },
  },
  no_items: {
    level: 'problem',
    means: { en: 'Orders have no items.', fa: 'این سفارش‌ها کالایی ندارند.' },
    action: {
      en: 'Nothing can be invoiced: add items, or cancel the order.',
      fa: 'چیزی برای فاکتور نیست؛ کالا اضافه کنید یا سفارش را لغو کنید.',
    },
  },
  tax_differs: {
    level: 'note',
    means: {
      en: "Orders have another tax rate than the accounting: the totals are equal, but the invoice shows the accounting's tax.",
      fa: 'نرخ مالیات این سفارش‌ها با حسابداری فرق دارد: جمع‌ها برابر است، اما فاکتور مالیات حسابداری را نشان می‌دهد.',
    },
    action: {
      en: 'Set the same tax rate in the shop and in the accounting.',
      fa: 'نرخ مالیات فروشگاه و حسابداری را یکسان کنید.',
    },
  },
  phone_omitted: {
    level: 'note',
    means: {
      en: 'Phone numbers are no mobile numbers that the accounting accepts, such as landlines; they are not sent.',
      fa: 'این شماره‌ها شمارهٔ همراه معتبر نیستند (مثلاً تلفن ثابت) و فرستاده نمی‌شوند.',
    },
    action: {
      en: 'The invoices go to the default customer; correct the number in the order to change that.',
      fa: 'فاکتورها به نام مشتری پیش‌فرض ثبت می‌شوند؛ برای تغییر، شماره را در سفارش اصلاح کنید.',
    },
  },
  partial_refund: {
    level: 'note',
    means: {
      en: 'Orders have refunds; a partial refund is no return in the accounting.',
      fa: 'این سفارش‌ها استرداد دارند؛ استرداد بخشی از سفارش در حسابداری برگشت از فروش ثبت نمی‌کند.',
    },
    action: {
      en: 'Register partial returns in the accounting.',
      fa: 'برگشت بخشی از فروش را در حسابداری ثبت کنید.',
    },
  },
  unmapped_status: {
    level: 'note',
    means: {
      en: 'Custom statuses are in use that make no invoice.',
      fa: 'وضعیت‌های سفارشی در فروشگاه هست که برایشان فاکتور صادر نمی‌شود.',
    },
    action: {
      en: 'Add those whose orders are sold to "statuses" in the configuration.',
      fa: 'وضعیت‌هایی را که یعنی سفارش فروخته شده، به statuses در تنظیمات اضافه کنید.',
    },
  },
  unknown_products: {
    level: 'note',
    means: {
      en: "The accounting's products are not known, so SKUs were not compared.",
      fa: 'فهرست کالاهای حسابداری در دست نیست، بنابراین شناسه‌ها مقایسه نشد.',
    },
    action: {
      en: 'Export the products from the accounting and pass the file with --products.',
      fa: 'فهرست کالاها را از حسابداری خروجی بگیرید و با --products بدهید.',
    },
  },
} as const satisfies Record<string, { level: Level; means: Words; action: Words }>

export const LEVEL_NAMES: Readonly<Record<Level, Words>> = {
  stop: { en: 'Cannot connect', fa: 'مانع اتصال' },
  problem: { en: 'To fix', fa: 'نیازمند اصلاح' },
  note: { en: 'Note', fa: 'توجه' },
}

/** The words of the report, in text and on the page. */
export const WORDS = {
  title: { en: 'Check of the shop {shop}', fa: 'بررسی فروشگاه {shop}' },
  period: { en: 'Orders from {from} to {to}', fa: 'سفارش‌ها از {from} تا {to}' },
  nothing: {
    en: 'No orders were created in this period.',
    fa: 'در این بازه سفارشی ثبت نشده است.',
  },
  orders: { en: 'orders', fa: 'سفارش' },
  invoices: { en: 'would become invoices', fa: 'سفارش فاکتور می‌شود' },
  equal: { en: 'with the same total', fa: 'با جمع برابر' },
  shopTotal: { en: "the shop's total", fa: 'جمع فروشگاه' },
  invoiceTotal: { en: 'the invoices', fa: 'جمع فاکتورها' },
  rials: { en: 'rials', fa: 'ریال' },
  ready: { en: 'The shop can be connected.', fa: 'فروشگاه آمادهٔ اتصال است.' },
  fix: {
    en: 'The shop can be connected; the orders below need attention first.',
    fa: 'فروشگاه را می‌توان متصل کرد؛ ولی سفارش‌های زیر باید اصلاح شوند.',
  },
  stopped: { en: 'The shop cannot be connected yet.', fa: 'فروشگاه هنوز قابل اتصال نیست.' },
  findings: { en: 'Findings', fa: 'یافته‌ها' },
  differences: {
    en: 'Orders without an invoice of the same total',
    fa: 'سفارش‌هایی که فاکتوری با همان مبلغ نمی‌گیرند',
  },
  order: { en: 'Order', fa: 'سفارش' },
  inShop: { en: 'Shop', fa: 'فروشگاه' },
  invoice: { en: 'Invoice', fa: 'فاکتور' },
  difference: { en: 'Difference', fa: 'اختلاف' },
  cause: { en: 'Cause', fa: 'علت' },
  none: { en: 'none', fa: 'ندارد' },
  statuses: { en: 'Statuses', fa: 'وضعیت‌ها' },
  status: { en: 'Status', fa: 'وضعیت' },
  becomes: { en: 'becomes an invoice', fa: 'فاکتور می‌شود' },
  yes: { en: 'yes', fa: 'بله' },
  no: { en: 'no', fa: 'خیر' },
  payments: { en: 'Payment methods', fa: 'روش‌های پرداخت' },
  gateway: { en: 'Shop', fa: 'فروشگاه' },
  method: { en: 'Accounting', fa: 'حسابداری' },
  tax: { en: 'Tax', fa: 'مالیات' },
  included: { en: 'prices include tax', fa: 'قیمت‌ها شامل مالیات است' },
  excluded: { en: 'prices exclude tax', fa: 'قیمت‌ها بدون مالیات است' },
  off: { en: 'taxes are switched off', fa: 'مالیات غیرفعال است' },
  rate: { en: '{mode}, {rate} %', fa: '{mode}، {rate}٪' },
  configuration: {
    en: 'Configuration for relay woo connect',
    fa: 'تنظیمات برای relay woo connect',
  },
  more: { en: 'and {count} more', fa: 'و {count} مورد دیگر' },
} as const satisfies Record<string, Words>

export const METHOD_NAMES: Readonly<Record<string, Words>> = {
  online: { en: 'online', fa: 'درگاه آنلاین' },
  transfer: { en: 'transfer', fa: 'انتقال بانکی' },
  card: { en: 'card', fa: 'کارت' },
  pos: { en: 'card reader', fa: 'کارت‌خوان' },
  cash: { en: 'cash', fa: 'نقدی' },
}
