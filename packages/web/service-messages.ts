import { learnMessages } from './messages.ts'

/** Messages of the accounting service, on its own pages and to the relay, in the terms of Iranian accountants. */
learnMessages({
  // States of an order.
  needs_review: 'نیازمند بررسی',
  invoiced: 'فاکتور شده',
  paid: 'پرداخت شده',
  refunded: 'مرجوع شده',
  'it is in review': 'در بررسی است',
  // Why an order waits for review.
  'Insufficient stock: {shortages}': 'کمبود موجودی: {shortages}',
  '"{=sku}" needs {needed}, available {available}': '«{sku}» نیاز {needed}، موجود {available}',
  'Automatic finalization is off': 'قطعی‌سازی خودکار خاموش است',
  'No receiving account is selected for order payments': 'حساب دریافت وجه سفارش‌ها انتخاب نشده است',
  'Not finalized yet': 'هنوز قطعی نشده است',
  // What became of a call.
  'The service fails on purpose': 'سرویس عمداً خطا می‌دهد',
  '{status} The service fails on purpose': '{status}: سرویس عمداً خطا می‌دهد',
  'no answer within {seconds} s': 'تا {seconds} ثانیه پاسخی نرسید',
  'connect ECONNREFUSED {=address}': 'اتصال به {address} پذیرفته نشد',
  'getaddrinfo ENOTFOUND {=host}': 'نشانی {host} پیدا نشد',
  'other side closed': 'طرف مقابل اتصال را بست',
  // Refusals.
  'Field "{=field}" is missing': 'مورد «{field}» نیامده است',
  'Field "{=field}" is {=value}: {rule}': '«{field}» برابر {value} است: {rule}',
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
  'must have at least one item': 'دست‌کم یک کالا لازم است',
  'must be a mobile number such as {example}': 'باید شماره موبایل باشد، مانند {example}',
  'must not be before "{=field}", {date}': 'نباید پیش از «{field}» ({date}) باشد',
  'must not exceed the row, {amount}': 'نباید بیش از مبلغ ردیف ({amount}) باشد',
  'must not exceed the items, {amount}': 'نباید بیش از مبلغ کالاها ({amount}) باشد',
  'must be a URL': 'باید نشانی وب باشد',
  'must be an http or https URL': 'باید نشانی وب باشد',
  'must not contain a user name or password': 'نباید نام کاربری یا گذرواژه داشته باشد',
  'no product has this code': 'کالایی با این کد نیست',
  'no record has this code': 'رکوردی با این کد نیست',
  '{document} is dated {date}: outside the fiscal years':
    '{document} به تاریخ {date} بیرون از سال‌های مالی است',
  'outside the fiscal years': 'بیرون از سال‌های مالی است',
  'Field "{=field}" {=state}, and no default customer is selected':
    'مشتری با این موبایل نیست و مشتری پیش‌فرض انتخاب نشده است',
})
