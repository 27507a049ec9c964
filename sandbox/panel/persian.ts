import { translator } from '../../web/language.ts'
import { learnMessages } from '../../web/messages.ts'

/** The texts of the panel, as an Iranian accountant has them. */
export const t = translator({
  '1 attempt': '۱ تلاش',
  '{count} attempts': '{count} تلاش',
  '{count} orders changed': '{count} سفارش تغییر کرد',
})

learnMessages({
  'Insufficient stock: {shortages}': 'کمبود موجودی: {shortages}',
  '"{sku}" needs {needed}, available {available}': '«{sku}»: نیاز {needed}، موجود {available}',
  'Automatic finalization is off': 'نهایی‌سازی خودکار خاموش است',
  'No receiving account is selected for order payments': 'حساب دریافت وجه سفارش‌ها انتخاب نشده است',
})
