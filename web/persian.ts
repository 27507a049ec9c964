import { translator } from './language.ts'

/** The texts that all pages have in common. */
export const t = translator({
  'Cannot reach the service: is it still running?': 'سرویس در دسترس نیست؛ آیا هنوز در حال اجراست؟',
  'The service answered {status}': 'پاسخ سرویس: {status}',
  'Fill this in': 'این مورد را پر کنید',
  '"{typed}" is not a number': '«{typed}» عدد نیست',
  '"{typed}" is not a date': '«{typed}» تاریخ نیست',
  // Orders.
  Store: 'فروشگاه',
  'Any store': 'همهٔ فروشگاه‌ها',
  'Needs review': 'نیازمند بررسی',
  Invoiced: 'فاکتور شده',
  Paid: 'پرداخت شده',
  Refunded: 'مرجوع شده',
  'Not registered': 'ثبت‌نشده',
  // Forms and pages.
  Cancel: 'انصراف',
  'Or a file: {label}': 'یا پرونده: {label}',
  Copy: 'رونوشت',
  Copied: 'رونوشت شد',
  Actions: 'عملیات',
  'Connecting…': 'در حال اتصال…',
  Live: 'برخط',
  'Disconnected, trying again…': 'ارتباط قطع شد، تلاش دوباره…',
  'Skip to content': 'رفتن به محتوا',
  Pages: 'صفحه‌ها',
  'This page cannot be shown': 'این صفحه نمایش داده نمی‌شود',
  'Try again': 'تلاش دوباره',
  'Reading…': 'در حال خواندن…',
  'Latin digits': 'رقم‌های لاتین',
  'Persian digits': 'رقم‌های فارسی',
  'Calendar of dates': 'تقویم تاریخ‌ها',
  Gregorian: 'میلادی',
  Jalali: 'شمسی',
})
