/** Marks where the programs join two texts, for the test that searches the programs for both. */
export const JOINT = '~'

/** Messages of the accounting service, on its own pages and to the relay, in the terms of Iranian accountants. */
export const SERVICE_MESSAGES = {
  // States of an order.
  needs_review: 'نیازمند بررسی',
  invoiced: 'فاکتور شده',
  paid: 'پرداخت شده',
  refunded: 'مرجوع شده',
  'it is in review': 'در بررسی است',
  // Why an order waits for review.
  'Insufficient stock: {shortages}': 'کمبود موجودی: {shortages}',
  '"{=sku}" needs {needed}, available {available}': '«{sku}»: نیاز {needed}، موجود {available}',
  'Automatic finalization is off': 'قطعی‌سازی خودکار خاموش است',
  'No receiving account is selected for order payments': 'حساب دریافت وجه سفارش‌ها انتخاب نشده است',
  'Not finalized yet': 'هنوز قطعی نشده است',
  // What became of a call.
  'The service fails on purpose': 'خطای عمدی سرویس',
  '{status} The service fails on purpose': '{status}: خطای عمدی سرویس',
  'no answer within {seconds} s': 'تا {seconds} ثانیه پاسخی نیامد',
  // Refusals.
  'Field "{=field}" ~is missing': 'فیلد «{field}» ارسال نشده است',
  'Field "{=field}" ~is {=value}: {rule}': 'مقدار «{field}» برابر {value} است: {rule}',
  'must not be empty': 'نباید خالی باشد',
  'must be a number': 'باید عدد باشد',
  'must not be negative': 'نباید منفی باشد',
  'must be greater than zero': 'باید بزرگ‌تر از صفر باشد',
  'must not exceed 100': 'نباید بیش از ۱۰۰ باشد',
  'must not be larger than {count} bytes': 'نباید بیش از {count} بایت باشد',
  'must have at most {count} digits': 'باید حداکثر {count} رقم داشته باشد',
  'must be a whole number': 'باید عدد صحیح باشد',
  'must be at least {least}': 'نباید کمتر از {least} باشد',
  'must be at most {most}': 'نباید بیشتر از {most} باشد',
  'must have at least one item': 'حداقل یک کالا لازم است',
  'must be a mobile number such as {example}': 'باید شمارهٔ موبایل باشد، مانند {example}',
  'must not be before ~"{=field}"~, {date}': 'نباید قبل از «{field}» ({date}) باشد',
  'must not exceed the row, {amount}': 'نباید بیش از مبلغ ردیف ({amount}) باشد',
  'must not exceed the items, {amount}': 'نباید بیش از مبلغ کالاها ({amount}) باشد',
  'must be a URL': 'باید URL باشد',
  'must be an http or https URL': 'باید URL با http یا https باشد',
  'must not contain a user name or password': 'نباید نام کاربری یا رمز عبور داشته باشد',
  'no product has this code': 'کالایی با این کد وجود ندارد',
  'no record has this code': 'رکوردی با این کد وجود ندارد',
  '{document} is dated~ {date}: outside the fiscal years':
    'تاریخ {document}، {date}، خارج از سال‌های مالی است',
  'outside the fiscal years': 'خارج از سال‌های مالی است',
  'Field "{=field}" ~{=state}, and no default customer is selected':
    'مشتری با این موبایل نیست و مشتری پیش‌فرض انتخاب نشده است',
}

/** Messages of Node. */
export const SYSTEM_MESSAGES = {
  'connect ECONNREFUSED {=address}': 'اتصال به {address} برقرار نشد',
  'getaddrinfo ENOTFOUND {=host}': 'نشانی {host} پیدا نشد',
  'other side closed': 'طرف مقابل اتصال را بست',
}
