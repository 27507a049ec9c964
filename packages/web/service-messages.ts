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
  'no response within {seconds} s': 'تا {seconds} ثانیه پاسخی نیامد',
  // Refusals.
  'Field "{=field}" ~is missing': 'فیلد «{field}» ارسال نشده است',
  'Field "{=field}" ~is {value}: {rule}': 'مقدار «{field}» برابر {value} است: {rule}',
  'The body ~is {value}: {rule}': 'متن درخواست {value} است: {rule}',
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
  'must be a mobile number such as {example}': 'باید شماره موبایل باشد، مانند {example}',
  'must not be before ~"{=field}"~, {date}': 'نباید قبل از «{field}» ({date}) باشد',
  'must not exceed the row, {amount}': 'نباید بیش از مبلغ ردیف ({amount}) باشد',
  'must not exceed the items, {amount}': 'نباید بیش از مبلغ کالاها ({amount}) باشد',
  'must be a string': 'باید متن باشد',
  'must be an array': 'باید فهرست باشد',
  'must be an object': 'باید شیء JSON باشد',
  'must be a JSON object': 'باید شیء JSON باشد',
  'must be a UUID': 'باید UUID باشد',
  'must be well-formed Unicode': 'باید متن معتبر یونیکد باشد',
  'must have at most {count} characters': 'باید حداکثر {count} نویسه داشته باشد',
  'must have at most {count} digits and an exponent of at most {exponent}':
    'باید حداکثر {count} رقم و توانی حداکثر {exponent} داشته باشد',
  'must be one of {values}': 'باید یکی از این‌ها باشد: {values}',
  'must be a date, YYYY-MM-DD (Gregorian)': 'باید تاریخ میلادی به شکل YYYY-MM-DD باشد',
  'must be a day of the calendar': 'باید روزی واقعی از تقویم باشد',
  'must be a URL': 'باید URL باشد',
  'must be an http or https URL': 'باید URL با http یا https باشد',
  'must not contain a user name or password': 'نباید نام کاربری یا رمز عبور داشته باشد',
  'no product has this code': 'کالایی با این کد وجود ندارد',
  'no record has this code': 'رکوردی با این کد وجود ندارد',
  '{document} is dated~ {date}: outside the open fiscal years':
    'تاریخ {document}، {date}، خارج از سال‌های مالی باز است',
  '{document} is dated~ {date}: outside the open fiscal years~; dates are Gregorian':
    'تاریخ {document}، {date}، خارج از سال‌های مالی باز است؛ تاریخ‌ها میلادی‌اند',
  'outside the open fiscal years': 'خارج از سال‌های مالی باز است',
  'outside the open fiscal years~; dates are Gregorian': 'خارج از سال‌های مالی باز است؛ تاریخ‌ها میلادی‌اند',
  'Field "{=field}" ~is missing: ~no default customer is selected':
    'شماره موبایل مشتری ارسال نشده و مشتری پیش‌فرض انتخاب نشده است',
  'no default customer is selected': 'مشتری پیش‌فرض انتخاب نشده است',
  'no customer has this number~, automatic customer creation is off, and ~no default customer is selected':
    'مشتری با این شماره نیست، ایجاد خودکار مشتری خاموش است و مشتری پیش‌فرض انتخاب نشده است',
}

/** Messages of Node. */
export const SYSTEM_MESSAGES = {
  'connect ECONNREFUSED {=address}': 'اتصال به {address} برقرار نشد',
  'connect ECONNRESET {=address}': 'اتصال به {address} قطع شد',
  'read ECONNRESET': 'اتصال قطع شد',
  'write ECONNRESET': 'اتصال قطع شد',
  'write EPIPE': 'اتصال قطع شد',
  'connect ETIMEDOUT {=address}': '{address} به‌موقع پاسخ نداد',
  'read ETIMEDOUT': 'پاسخی به‌موقع نیامد',
  'connect EHOSTUNREACH {=address}': 'مسیری به {address} نیست',
  'connect ENETUNREACH {=address}': 'مسیری به {address} نیست',
  'getaddrinfo ENOTFOUND {=host}': 'نشانی {host} پیدا نشد',
  'getaddrinfo EAI_AGAIN {=host}': 'نشانی {host} فعلاً پیدا نمی‌شود',
  'other side closed': 'طرف مقابل اتصال را بست',
  'socket hang up': 'طرف مقابل اتصال را بست',
  aborted: 'طرف مقابل پاسخ را ناتمام گذاشت',
  'self-signed certificate': 'گواهی TLS خودامضا است',
  'certificate has expired': 'گواهی TLS منقضی شده است',
  'unable to verify the first certificate': 'گواهی TLS قابل تأیید نیست',
  "Hostname/IP does not match certificate's altnames: {=names}": 'گواهی TLS برای این نشانی صادر نشده است',
}
