/** Persian translations of the service's texts (causes of a review, history and refusals), by their English texts. */
export const MESSAGES = {
  'Order received, invoice {number} drafted': 'سفارش دریافت و پیش‌نویس فاکتور {number} ایجاد شد',
  'Order received~ with its payment~, invoice {number} drafted':
    'سفارش همراه با پرداخت دریافت و پیش‌نویس فاکتور {number} ایجاد شد',
  'Invoice {number} finalized, goods taken from stock': 'فاکتور {number} قطعی و کالاها از انبار کم شد',
  'Retried by the accountant': 'اقدام حسابدار به قطعی کردن فاکتور',
  'Receipt {number} ({type}) of {amount} rials~ into {=account}':
    'رسید دریافت {number} ({type}) به مبلغ {amount} ریال در {account}',
  'Receipt {number} ({type}) of {amount} rials~ without an account':
    'رسید دریافت {number} ({type}) به مبلغ {amount} ریال بدون حساب',
  'Payment ({payment}) ~held until the invoice is finalized':
    'دریافت وجه ({payment}) تا قطعی شدن فاکتور معلق ماند',
  'Payment ({payment}) ~received again: it is already held':
    'دریافت وجه ({payment}) دوباره اعلام شد: از پیش معلق است',
  'Payment ({payment}) ~received again: it already has a receipt':
    'دریافت وجه ({payment}) دوباره اعلام شد: رسید آن از پیش ثبت شده است',
  'Payment ({payment}) ~not held: another payment already is':
    'دریافت وجه ({payment}) پذیرفته نشد: دریافت دیگری معلق است',
  'Payment reversed by the accountant~, receipt {number} cancelled':
    'حسابدار دریافت وجه را باطل کرد: رسید دریافت {number}',
  'Payment reversed by the accountant~ ({=reason})~, receipt {number} cancelled':
    'حسابدار دریافت وجه را باطل کرد ({reason}): رسید دریافت {number}',
  'Return reversed by the accountant~, sales return {number} cancelled, goods taken from stock':
    'حسابدار برگشت از فروش {number} را باطل کرد و کالاها از انبار کم شد',
  'Return reversed by the accountant~ ({=reason})~, sales return {number} cancelled, goods taken from stock':
    'حسابدار برگشت از فروش {number} را باطل کرد ({reason}) و کالاها از انبار کم شد',
  'Sales return {number} of {amount} rials~ ({=reason})~, goods back in stock':
    'برگشت از فروش {number} به مبلغ {amount} ریال ({reason})، کالاها به انبار برگشت',
  'Sales return {number} of {amount} rials~, goods back in stock':
    'برگشت از فروش {number} به مبلغ {amount} ریال، کالاها به انبار برگشت',
  'Repayment {number} of {amount} rials from {=account}':
    'رسید پرداخت {number} به مبلغ {amount} ریال از {account}',
  'Repayment reversed by the accountant~, repayment {number} cancelled':
    'حسابدار عودت وجه را باطل کرد: رسید پرداخت {number}',
  'Repayment reversed by the accountant~ ({=reason})~, repayment {number} cancelled':
    'حسابدار عودت وجه را باطل کرد ({reason}): رسید پرداخت {number}',
  'Dated {date}': 'به تاریخ {date}',
  'Return refused: the invoice is not finalized': 'برگشت از فروش رد شد: فاکتور قطعی نیست',
  'Moved back to review by the accountant ({=reason}): {undone}':
    'حسابدار سفارش را به بررسی برگرداند ({reason}): {undone}',
  'goods back in stock': 'کالاها به انبار برگشت',
  'sales return {number} cancelled': 'برگشت از فروش {number} باطل شد',
  'receipt {number} cancelled': 'رسید دریافت {number} باطل شد',
  'its payment held': 'وجه آن معلق شد',
  'Corrected by the accountant~, total {before} ~to {after}~ rials':
    'اصلاح حسابدار؛ جمع کل از {before} به {after} ریال',
  'Corrected by the accountant~ ({=reason})~, total {before} ~to {after}~ rials':
    'اصلاح حسابدار ({reason})؛ جمع کل از {before} به {after} ریال',
  'Corrected by the accountant~, total {total} rials': 'اصلاح حسابدار؛ جمع کل {total} ریال، بدون تغییر',
  'Corrected by the accountant~ ({=reason})~, total {total} rials':
    'اصلاح حسابدار ({reason})؛ جمع کل {total} ریال، بدون تغییر',
  '"{=name}"~ ({=sku})~: name changed to ~"{=after}"': 'شرح «{name}» ({sku}) به «{after}» تغییر کرد',
  '"{=name}"~ ({=sku})~: quantity {before} to {after}': 'مقدار «{name}» ({sku}) از {before} به {after}',
  '"{=name}"~ ({=sku})~: unit price {before} to {after} rials':
    'مبلغ واحد «{name}» ({sku}) از {before} به {after} ریال',
  '"{=name}"~ ({=sku})~: discount {before} to {after} rials':
    'تخفیف «{name}» ({sku}) از {before} به {after} ریال',
  'Row removed: ~{quantity} × ~"{=name}"~ ({=sku})~, unit price {price} rials, discount {discount} rials':
    'حذف ردیف: {quantity} × «{name}» ({sku}) با مبلغ واحد {price} ریال و تخفیف {discount} ریال',
  'Row added: ~{quantity} × ~"{=name}"~ ({=sku})~, unit price {price} rials, discount {discount} rials':
    'افزودن ردیف: {quantity} × «{name}» ({sku}) با مبلغ واحد {price} ریال و تخفیف {discount} ریال',
  'Shipping {before} to {after} rials': 'هزینه ارسال از {before} به {after} ریال',
  'Order discount {before} to {after} rials': 'تخفیف کل از {before} به {after} ریال',
  'Date {before} to {after}': 'تاریخ از {before} به {after}',
  'Date of the held payment {before} to {after}': 'تاریخ دریافت وجه معلق از {before} به {after}',
  'Held payment: {amount} rials, the amount when it came in':
    'دریافت وجه معلق: {amount} ریال، همان مبلغ هنگام دریافت',
  'Held payment: {total} rials, the whole invoice; {amount} rials when it came in':
    'دریافت وجه معلق: {total} ریال، کل فاکتور؛ مبلغ هنگام دریافت {amount} ریال بود',
  'no held payment was sent for the whole invoice':
    'هیچ دریافت وجه معلقی برای تسویه کل فاکتور ارسال نشده است',
  'no held payment is dated outside the open fiscal years':
    'تاریخ هیچ دریافت وجه معلقی خارج از سال‌های مالی باز نیست',
  '{count} held payments are dated outside the open fiscal years':
    'تاریخ {count} دریافت وجه معلق خارج از سال‌های مالی باز است',
  'add or reopen their fiscal years first': 'ابتدا سال‌های مالی آن‌ها را اضافه یا بازگشایی کنید',
  'Customer ~"{=before}"~ to ~"{=after}"': 'مشتری از «{before}» به «{after}»',
  'Stock of {=sku} set from {before} to {after} by the accountant':
    'حسابدار موجودی {sku} را از {before} به {after} تغییر داد',
  'reference {=reference}': 'شماره پیگیری {reference}',
  online: 'پرداخت اینترنتی',
  transfer: 'حواله',
  card: 'کارت بانکی',
  pos: 'کارتخوان',
  'card reader': 'کارتخوان',
  cash: 'نقدی',
  'Webhook delivered to {=url} ({status})': 'وب‌هوک به {url} تحویل شد ({status})',
  'Webhook to {=url} failed after the last attempt ({error})':
    'ارسال وب‌هوک به {url} پس از آخرین تلاش ناموفق ماند ({error})',
  'Outside the open fiscal years: {documents}': 'خارج از سال‌های مالی باز: {documents}',
  'invoice ~of {date}': 'فاکتور به تاریخ {date}',
  'held payment ~of {date}': 'دریافت وجه معلق به تاریخ {date}',
  '{document} is dated in the future, {date}': 'تاریخ {document} در آینده است: {date}',
  'The held payment': 'دریافت وجه معلق',
  'Receipt {number} is dated {days} days before the invoice':
    'تاریخ رسید دریافت {number}، {days} روز قبل از تاریخ فاکتور است',
  'Receipt {number} has the reference of receipt {other}, order ~"{=order}"':
    'شماره پیگیری رسید دریافت {number} با رسید دریافت {other} سفارش «{order}» یکی است',
  'Without the cancelled receipts, the cash box ~"{=account}"~ has {balance} rials on {date}':
    'بدون رسیدهای دریافت باطل‌شده، موجودی «{account}» در {date} به {balance} ریال می‌رسد',
  // Refusals.
  'Invoice {number}': 'فاکتور {number}',
  'Receipt {number}': 'رسید دریافت {number}',
  'Sales return {number}': 'برگشت از فروش {number}',
  'Cannot register the {name}~: no receiving account is selected for order payments in the settings':
    '{name} ثبت نمی‌شود: حساب دریافت وجه سفارش‌ها در تنظیمات انتخاب نشده است',
  payment: 'دریافت وجه',
  repayment: 'عودت وجه',
  'Repayment {number}': 'رسید پرداخت {number}',
  'Cannot {action} order ~"{=order}"~: it is {status}, and {reason}':
    '{action} سفارش «{order}» ممکن نیست: {status} است و {reason}',
  'Cannot {action} order ~"{=order}"~: {reason}': '{action} سفارش «{order}» ممکن نیست: {reason}',
  'it has changed meanwhile': 'سفارش در این فاصله تغییر کرده است',
  'open it again and repeat the action': 'آن را دوباره باز کنید و کار را تکرار کنید',
  retry: 'قطعی کردن',
  pay: 'ثبت دریافت وجه',
  'reverse the payment of': 'ابطال دریافت وجه',
  'reverse the return of': 'ابطال برگشت از فروش',
  repay: 'عودت وجه',
  'reverse the repayment of': 'ابطال عودت وجه',
  return: 'برگشت از فروش',
  review: 'برگرداندن به بررسی',
  correct: 'اصلاح',
  'its invoice is finalized': 'فاکتور آن قطعی است',
  'it has no receipt': 'رسید دریافت ندارد',
  'its buyer has no credit': 'خریدار آن مانده بستانکار ندارد',
  'it has no return': 'برگشت از فروش ندارد',
  'it has no repayment': 'وجهی برای آن عودت داده نشده است',
  'it has a repayment': 'وجه آن عودت داده شده است',
  'reverse its repayment first': 'ابتدا عودت وجه را باطل کنید',
  'its goods are returned': 'کالاهای آن برگشته است',
  'its invoice is a draft': 'فاکتور آن پیش‌نویس است',
  'it has a receipt': 'رسید دریافت دارد',
  'move it back to review first': 'ابتدا به بررسی برگردانید',
  'finalize it with a retry first': 'ابتدا آن را قطعی کنید',
  'reverse its return first': 'ابتدا برگشت از فروش را باطل کنید',
  'reverse its payment first': 'ابتدا دریافت وجه را باطل کنید',
  'add stock first': 'ابتدا موجودی را اضافه کنید',
  'add stock, or move it back to review first': 'موجودی را اضافه کنید یا ابتدا به بررسی برگردانید',
  'the new total is {total} rials, its receipts have {amount}':
    'جمع کل جدید {total} ریال و جمع رسیدهای دریافت {amount} ریال است',
  'a part of it is returned': 'بخشی از آن برگشته است',
  'the cash box ~"{=account}"~ has only {balance} rials on {date}':
    '«{account}» در {date} فقط {balance} ریال موجودی دارد',
  'pay from another account, or correct its opening balance first':
    'از حساب دیگری پرداخت کنید یا ابتدا مانده اول دوره آن را اصلاح کنید',
  'the cash box would have {balance} rials on {date}': 'موجودی صندوق در {date} به {balance} ریال می‌رسد',
  'the balances of the closed fiscal year from {from} to {to} would change':
    'مانده‌های سال مالی بسته {from} تا {to} تغییر می‌کند',
  'reopen it first': 'ابتدا آن را بازگشایی کنید',
  'documents use the account as {kind}': 'اسناد این حساب با نوع {kind} ثبت شده است',
  'add another account instead': 'به‌جای آن حساب دیگری اضافه کنید',
  bank: 'حساب بانکی',
  'must be a cash box for cash': 'برای پرداخت نقدی باید صندوق باشد',
  'must be a bank account, except for cash': 'برای پرداخت غیرنقدی باید حساب بانکی باشد',
  'must not exceed the credit of the buyer~, {amount}': 'نباید بیش از مانده بستانکار خریدار ({amount}) باشد',
  'must not exceed what is due~, {amount}': 'نباید بیش از مانده قابل دریافت ({amount}) باشد',
  'must not exceed the stock, {stock}': 'نباید بیش از موجودی ({stock}) باشد',
  'must not be zero': 'نباید صفر باشد',
  'must not exceed what is not returned, {quantity}': 'نباید بیش از مقدار باقی‌مانده ({quantity}) باشد',
  'must have 11 digits for a company or 10 digits for a person':
    'باید برای شرکت ۱۱ رقم و برای شخص ۱۰ رقم داشته باشد',
  'must have a valid check digit': 'معتبر نیست: رقم کنترل آن درست نیست',
  'must have 11 digits for a company, 14 digits for a person, or the 12 digits of an old code':
    'باید برای شرکت ۱۱ رقم، برای شخص ۱۴ رقم یا در کد قدیمی ۱۲ رقم باشد',
  'must have digits only, apart from +, hyphens and brackets':
    'باید فقط رقم باشد (علامت + و خط تیره و پرانتز مجاز است)',
  'this ~fiscal year~ is already registered': 'این سال مالی قبلاً ثبت شده است',
  'this ~code~ is already registered': 'این کد قبلاً ثبت شده است',
  'must be a whole number of rials': 'باید مبلغی به ریال و بدون اعشار باشد',
  'must not be after today, {date}': 'نباید بعد از امروز ({date}) باشد',
  'must not be before ~the invoice~, {date}': 'نباید قبل از تاریخ فاکتور ({date}) باشد',
  'must not be before ~receipt {number}~, {date}': 'نباید قبل از تاریخ رسید دریافت {number} ({date}) باشد',
  'must not be before ~sales return {number}~, {date}':
    'نباید قبل از تاریخ برگشت از فروش {number} ({date}) باشد',
  'must not overlap the fiscal year from {from} to {to}':
    'نباید با سال مالی {from} تا {to} هم‌پوشانی داشته باشد',
  'must have 10 digits': 'باید ۱۰ رقم داشته باشد',
  'must be greater than zero in at least one row': 'مقدار حداقل یک ردیف باید بزرگ‌تر از صفر باشد',
  'Order ~"{=order}"~ of source ~"{=source}"~ is not registered':
    'سفارش «{order}» فروشگاه «{source}» ثبت نشده است',
  'Customer ~"{=customer}"~ is not known': 'مشتری «{customer}» پیدا نشد',
  'Delivery "{=delivery}" is not known': 'وب‌هوک «{delivery}» پیدا نشد',
  'Cannot send to {=url}: it is not registered': 'ارسال به {url} ممکن نیست: ثبت نشده است',
}
