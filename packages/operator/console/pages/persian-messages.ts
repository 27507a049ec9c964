import { learnMessages } from '@order-relay/web/messages.ts'
import '@order-relay/web/service-messages.ts'

/** What the relay and its commands say, as an Iranian operator has it. */
learnMessages({
  // Alarms.
  'An order event failed for days and waits in the dead-letter queue':
    'رویداد یک سفارش روزها ناموفق بوده و در صف پیام‌های ناکام مانده است',
  'Authentic input is unreadable or contradictory and waits in the quarantine queue':
    'ورودی معتبری ناخوانا یا متناقض است و در قرنطینه مانده است',
  'The webhook function has quarantined authentic input': 'تابع وب‌هوک ورودی معتبری را قرنطینه کرد',
  'The worker function has quarantined authentic input': 'پردازشگر ورودی معتبری را قرنطینه کرد',
  'The oldest message of the order queue is over 15 minutes old':
    'قدیمی‌ترین پیام صف سفارش‌ها بیش از ۱۵ دقیقه مانده است',
  'The oldest message of the bulk queue is over 12 hours old':
    'قدیمی‌ترین پیام صف انبوه بیش از ۱۲ ساعت مانده است',
  'An order keeps failing and is over 30 minutes behind':
    'سفارشی پیاپی ناموفق است و بیش از ۳۰ دقیقه عقب مانده است',
  'The webhook function crashed or timed out': 'تابع وب‌هوک از کار افتاد یا وقتش تمام شد',
  'Lambda throttles the webhook function': 'Lambda تابع وب‌هوک را محدود می‌کند',
  "The function of the stores' API crashed or timed out": 'تابع API فروشگاه‌ها از کار افتاد یا وقتش تمام شد',
  "Lambda throttles the function of the stores' API": 'Lambda تابع API فروشگاه‌ها را محدود می‌کند',
  'A webhook could not be stored in DynamoDB or SQS; the accounting service was told to retry':
    'وب‌هوکی در DynamoDB یا SQS ذخیره نشد؛ از سرویس حسابداری خواسته شد دوباره بفرستد',
  "A store's request could not be stored in DynamoDB or SQS; the store was told to retry":
    'درخواست فروشگاهی در DynamoDB یا SQS ذخیره نشد؛ از فروشگاه خواسته شد دوباره بفرستد',
  'Webhooks arrive that are not signed with a known secret':
    'وب‌هوک‌هایی می‌رسد که با کلید شناخته‌شده‌ای امضا نشده‌اند',
  'The accounting service rejects the API key; no order can be processed':
    'سرویس حسابداری کلید API را نمی‌پذیرد؛ هیچ سفارشی پردازش نمی‌شود',
  'The accounting service is unavailable; orders wait': 'سرویس حسابداری در دسترس نیست؛ سفارش‌ها منتظرند',
  'The worker crashed or timed out': 'پردازشگر از کار افتاد یا وقتش تمام شد',
  'The check for missed webhooks has not run': 'بررسی وب‌هوک‌های ازدست‌رفته اجرا نشده است',
  "A store's HTTP endpoint has rejected a message for over an hour":
    'نقطهٔ دریافت فروشگاهی بیش از یک ساعت است که پیامی را نمی‌پذیرد',
  'A feed message failed for days and waits in the dead-letter queue':
    'پیام خوراک یک فروشگاه روزها ناموفق بوده و در صف پیام‌های ناکام مانده است',
  'The store "{name}" has not received its oldest message for over an hour':
    'فروشگاه «{name}» قدیمی‌ترین پیام خود را بیش از یک ساعت است که نگرفته است',
  // Differences and outcomes of an audit.
  'order is "{ours}" here and unknown to the service': 'سفارش اینجا «{ours}» است و سرویس آن را نمی‌شناسد',
  'order is unknown here and "{theirs}" at the service': 'سفارش اینجا ناشناخته و در سرویس «{theirs}» است',
  'order is "{ours}" here and "{theirs}" at the service': 'سفارش اینجا «{ours}» و در سرویس «{theirs}» است',
  'order cannot be read from the service: {reason}': 'سفارش از سرویس خوانده نمی‌شود: {reason}',
  'order differs in {fields}': 'سفارش در این موارد اختلاف دارد: {fields}',
  queued: 'پذیرفته‌شده',
  duplicate: 'تکراری',
  quarantined: 'در قرنطینه',
  'ignored: {why}': 'نادیده‌گرفته: {why}',
  'refused: {why}': 'ردشده: {why}',
  // What `whyWaiting` says.
  create: 'ثبت سفارش',
  payment: 'پرداخت',
  refund: 'برگشت',
  'the service holds it until the invoice is finalized': 'سرویس آن را تا قطعی‌شدن فاکتور نگه می‌دارد',
  'the service takes it once the invoice is finalized': 'سرویس آن را پس از قطعی‌شدن فاکتور می‌پذیرد',
  'the service refused it': 'سرویس آن را رد کرد',
  'the service refused it: {status} {reason}': 'سرویس آن را با {status} رد کرد: {reason}',
  'the event "{=event}" fails': 'رویداد «{event}» ناموفق است',
  'the service does not know the order before that': 'سرویس پیش از آن سفارش را نمی‌شناسد',
  'it is to be sent': 'باید فرستاده شود',
  'the answer of the service was lost: it is sent again': 'پاسخ سرویس نرسید: دوباره فرستاده می‌شود',
  'it is in review': 'در بررسی است',
  'it is in review: {reason}': 'در بررسی است: {reason}',
  'it is a dead letter after {count} attempts: {=reason}': 'پس از {count} تلاش پیام ناکام است: {reason}',
  'calls of an import would delay those of other stores':
    'فراخوانی‌های یک ورود انبوه فروشگاه‌های دیگر را معطل می‌کرد',
  'it may be out of date and is read from the service': 'شاید کهنه باشد و از سرویس خوانده می‌شود',
  'it is in the order queue': 'در صف سفارش‌هاست',
  'The worker reads the order from the service.': 'پردازشگر سفارش را از سرویس می‌خواند.',
  'The worker reads the order from the service, which is due at {=time}.':
    'پردازشگر سفارش را از سرویس می‌خواند؛ موعد آن {time} است.',
  'The worker reads the order from the service and sends what was refused again.':
    'پردازشگر سفارش را از سرویس می‌خواند و آنچه رد شده بود دوباره می‌فرستد.',
  'The worker reads the order from the service and sends what was refused again, which is due at {=time}.':
    'پردازشگر سفارش را از سرویس می‌خواند و آنچه رد شده بود دوباره می‌فرستد؛ موعد آن {time} است.',
  'The check waits behind "{=event}" and changes nothing before that succeeds.':
    'بررسی پشت «{event}» می‌ماند و تا آن موفق نشود چیزی را تغییر نمی‌دهد.',
  'The worker processes "{=event}" at once.': 'پردازشگر «{event}» را بی‌درنگ پردازش می‌کند.',
  'The request is kept with the order, and the next check sends it.':
    'درخواست همراه سفارش می‌ماند و بررسی بعدی آن را می‌فرستد.',
  'Nothing is lost once a check has read the order from the service.':
    'پس از آنکه یک بررسی سفارش را از سرویس بخواند، چیزی از دست نمی‌رود.',
  'The request is lost, and its store is not notified.':
    'درخواست از دست می‌رود و فروشگاه از آن خبردار نمی‌شود.',
  'The order is read, and the {kind} withdrawn unless it is done already.':
    'سفارش خوانده می‌شود و اگر هنوز انجام نشده باشد از {kind} انصراف داده می‌شود.',
  'When the service answers again, the order is read, and the {kind} withdrawn unless it is done already.':
    'وقتی سرویس دوباره پاسخ دهد، سفارش خوانده می‌شود و اگر هنوز انجام نشده باشد از {kind} انصراف داده می‌شود.',
  'One request in a hundred takes over 5 seconds; the accounting service and the stores wait for ten':
    'از هر صد درخواست یکی بیش از ۵ ثانیه می‌کشد؛ سرویس حسابداری و فروشگاه‌ها ده ثانیه صبر می‌کنند',
  'The API refuses webhooks or requests of stores with 429: they exceed the limit of their route':
    'API وب‌هوک‌ها یا درخواست‌های فروشگاه‌ها را با ۴۲۹ رد می‌کند: از سقف مسیرشان بیشترند',
  'Lambda throttles the worker': 'Lambda پردازشگر را محدود می‌کند',
  'The check for missed webhooks failed': 'بررسی وب‌هوک‌های ازدست‌رفته ناموفق بود',
  'The feeder, which delivers to HTTP feeds, crashed or timed out':
    'فرستندهٔ خوراک‌های HTTP از کار افتاد یا وقتش تمام شد',
  "A store's HTTP endpoint has failed for so long that the relay only probes it":
    'نقطهٔ دریافت فروشگاهی چنان دیر پاسخ نداده که رله فقط آن را می‌آزماید',
  'A feed message failed for days and was moved to the dead-letter queue':
    'پیام خوراک یک فروشگاه روزها ناموفق بود و به صف پیام‌های ناکام رفت',
  'Messages that the store "{name}" could not handle wait in its dead-letter queue':
    'پیام‌هایی که فروشگاه «{name}» از عهده‌شان برنیامده در صف پیام‌های ناکامش مانده‌اند',
  // Fields of records.
  url: 'نشانی',
  answer: 'پاسخ',
  status_display: 'نام وضعیت',
  total: 'جمع',
  invoice_number: 'شمارهٔ فاکتور',
  invoice_status: 'وضعیت فاکتور',
  receipt_number: 'شمارهٔ رسید',
  return_number: 'شمارهٔ برگشت',
  draft: 'پیش‌نویس',
  posted: 'قطعی',
  error: 'خطا',
  id: 'شناسه',
  from: 'از',
  'order queue': 'صف سفارش‌ها',
  feed: 'خوراک',
  source: 'فروشگاه',
  external_id: 'شمارهٔ سفارش',
  event: 'رویداد',
  delivery: 'تحویل',
  status: 'وضعیت',
  at: 'زمان',
  deleted_at: 'زمان حذف',
  bytes: 'بایت',
  reason: 'دلیل',
  readable: 'خوانا',
  true: 'آری',
  false: 'نه',
  received_at: 'زمان دریافت',
  remembered_until: 'ماندگار تا',
  forgotten: 'فراموش‌شده',
  headers: 'سرآیندها',
  body: 'متن',
  cut: 'بریده',
  // Why an event fails.
  'The breaker is open: the accounting service was unavailable': 'مدار باز است: سرویس حسابداری در دسترس نبود',
  'The accounting service answered {status}': 'سرویس حسابداری پاسخ {status} داد',
  'The accounting service answered {status} to a create: check ACCOUNTING_URL':
    'سرویس حسابداری به ثبت سفارش پاسخ {status} داد: ACCOUNTING_URL را بررسی کنید',
  'The accounting service answered without a result of the order': 'پاسخ سرویس حسابداری نتیجهٔ سفارش را نداشت',
  'Cannot reach the accounting service: {=reason}': 'سرویس حسابداری در دسترس نیست: {reason}',
  'Not enough time remains for another call in this invocation': 'در این اجرا برای فراخوانی دیگر زمان نماند',
  // Groups of failures, and what a plan does.
  'order queue: {=event} of {=source}': 'صف سفارش‌ها: {event} از {source}',
  'feed: {=event} of {=source}': 'خوراک: {event} از {source}',
  'order queue: {failure}': 'صف سفارش‌ها: {failure}',
  webhook: 'وب‌هوک',
  worker: 'پردازشگر',
  'webhook: {failure}': 'وب‌هوک: {failure}',
  'worker: {failure}': 'پردازشگر: {failure}',
  'no call': 'بدون فراخوانی',
  'no call: the store is notified again': 'بدون فراخوانی: فروشگاه دوباره خبردار می‌شود',
  'no call: the worker cannot read it and quarantines it':
    'بدون فراخوانی: پردازشگر آن را نمی‌تواند بخواند و قرنطینه می‌کند',
  'GET order: "{status}"': 'خواندن سفارش: «{status}»',
  'GET order: {outcome}': 'خواندن سفارش: {outcome}',
  'POST {=to} {=request}: {outcome}': 'فراخوانی {to} {request}: {outcome}',
  'feed: {=event} (status "{status}")': 'خوراک: {event} (وضعیت «{status}»)',
  'feed: {failure}': 'خوراک: {failure}',
  'unpredictable: {reason}': 'پیش‌بینی‌ناپذیر: {reason}',
  'unknown order': 'سفارش ناشناس',
  'rejected: the service does not know the order': 'مردود: سرویس سفارش را نمی‌شناسد',
  'expected status "{status}"': 'وضعیت مورد انتظار «{status}»',
  'no change: already "{status}"': 'بی‌تغییر: اکنون هم «{status}» است',
  'held until the invoice is finalized': 'نگه‌داشته تا قطعی‌شدن فاکتور',
  'refused until the invoice is finalized': 'مردود تا قطعی‌شدن فاکتور',
  deleted: 'حذف می‌شود',
  'kept: still unreadable': 'می‌ماند: هنوز خوانا نیست',
  'kept: belongs to no store in stores.yml': 'می‌ماند: فروشگاهش در stores.yml نیست',
  'kept: an earlier message of the same order must be replayed first':
    'می‌ماند: نخست باید پیام پیشین همین سفارش دوباره پردازش شود',
  'deleted: the same delivery was received again in the meantime':
    'حذف می‌شود: همین تحویل در این میان دوباره رسیده است',
  'It was not sent by the relay': 'فرستادهٔ رله نیست',
  'Field {=name} is missing': 'فیلد {name} نیست',
  // Why a delivery was ignored or refused.
  'foreign source': 'فروشگاه ناشناس',
  'other event': 'رویداد دیگر',
  probe: 'آزمون',
  forged: 'امضای نادرست',
  malformed: 'امضای بدشکل',
  stale: 'کهنه',
  mismatch: 'ناهمخوان',
  contradictory: 'متناقض',
  'too large': 'بیش از اندازه بزرگ',
  'delivery failed': 'ذخیره نشد',
  'delivery deferred': 'به بعد موکول شد',
  // The webhook.
  'Registered {=url} with the accounting service; its secret is stored as {=id}.':
    '{url} در سرویس حسابداری ثبت شد؛ کلید امضایش با نام {id} ذخیره شد.',
  '{=url} is already registered (since {time}, secret {=id}). To replace the secret: {=command}':
    '{url} از پیش ثبت شده است (از {time}، کلید امضا {id}). برای تعویض کلید: {command}',
  'The relay accepts webhooks signed with it.': 'رله وب‌هوک‌های امضاشده با آن را می‌پذیرد.',
  'The accounting service no longer sends webhooks to {=url}; 1 secret deleted.':
    'سرویس حسابداری دیگر وب‌هوکی به {url} نمی‌فرستد؛ یک کلید امضا حذف شد.',
  'The accounting service no longer sends webhooks to {=url}; {count} secrets deleted.':
    'سرویس حسابداری دیگر وب‌هوکی به {url} نمی‌فرستد؛ {count} کلید امضا حذف شد.',
  'The secret {=id} is in use. The old one remains valid; run {=command} again after {time} to retire it.':
    'کلید امضای {id} در کار است. کلید پیشین هنوز معتبر است؛ برای حذفش {command} را پس از {time} دوباره اجرا کنید.',
  'The secret {=id} is in use; retired: {=others}.': 'کلید امضای {id} در کار است؛ حذف‌شده: {others}.',
  'Finished an earlier rotation: the secret {=id} is in use; retired: {=others}.':
    'تعویض پیشین پایان یافت: کلید امضای {id} در کار است؛ حذف‌شده: {others}.',
  // What is wrong with a signature.
  'Cannot read the request: Received must be a time such as {=example}':
    'زمان رسیدن باید به شکل {example} باشد',
  'the signature is valid': 'امضا معتبر است',
  'Cannot verify the signature: {what}': 'امضا سنجیدنی نیست: {what}',
  'the header X-Service-Signature is missing': 'سرآیند X-Service-Signature نیست',
  'the header must have one t=<unix time>': 'سرآیند باید یک t=<زمان یونیکس> داشته باشد',
  'the header must have v1=<64 lower-case hexadecimal digits>':
    'سرآیند باید v1=<۶۴ رقم شانزده‌شانزدهی کوچک> داشته باشد',
  'the signature is {count} seconds old': 'امضا {count} ثانیه کهنه است',
  'the signature is {count} seconds in the future': 'زمان امضا {count} ثانیه در آینده است',
  'set the clock; for a delivery that waited, pass the time of its arrival as receivedAt':
    'ساعت را درست کنید؛ برای تحویلی که منتظر مانده، زمان رسیدنش را بدهید',
  'white space around the body was added': 'دور متن فاصله افزوده شده است',
  'a line break at the end of the body was removed': 'پایان سطرِ آخر متن حذف شده است',
  'the body was parsed and written again': 'متن تجزیه و دوباره نوشته شده است',
  'the body was parsed and written again, with its fields in another order; {=otherwise}':
    'متن تجزیه و با ترتیب دیگری دوباره نوشته شده است؛ وگرنه کلید دیگری امضا کرده است',
  'line breaks of the body were changed': 'پایان سطرهای متن تغییر کرده است',
  'the body was read in a character set other than UTF-8': 'متن با کدبندی دیگری جز UTF-8 خوانده شده است',
  'the body was read in another character set, and some of it is lost; {=otherwise}':
    'متن با کدبندی دیگری خوانده شده و بخشی از آن از دست رفته است؛ وگرنه کلید دیگری امضا کرده است',
  'the body is base64': 'متن base64 است',
  'the body is empty: something else has read it; {=otherwise}':
    'متن خالی است: چیز دیگری آن را خوانده است؛ وگرنه کلید دیگری امضا کرده است',
  'the body is not JSON: it was cut off or changed; {=otherwise}':
    'متن JSON نیست: بریده شده یا تغییر کرده است؛ وگرنه کلید دیگری امضا کرده است',
  'there are quotes around the secret': 'دور کلید امضا نقل‌قول است',
  'a line break is part of the secret that signs': 'کلیدی که امضا می‌کند پایان سطر دارد',
  'the prefix whsec_ does not belong to the secret': 'پیشوند whsec_ جزء کلید امضا نیست',
  'the prefix whsec_ of the secret is missing': 'پیشوند whsec_ کلید امضا نیست',
  'the sender decodes the secret from base64': 'فرستنده کلید امضا را از base64 می‌گشاید',
  'the sender decodes the secret from hex': 'فرستنده کلید امضا را از مبنای ۱۶ می‌گشاید',
  'the secret was decoded from base64': 'کلید امضا از base64 گشوده شده است',
  '{first}, and {second}': '{first}، و {second}',
  'verify the raw bytes of the request before anything parses or changes them':
    'بایت‌های خام درخواست را پیش از هر تجزیه یا تغییری بسنجید',
  'read the body as bytes, or as UTF-8': 'متن را بایت‌به‌بایت یا با UTF-8 بخوانید',
  'decode it first: API Gateway sets isBase64Encoded for such a body':
    'نخست آن را بگشایید: API Gateway برای چنین متنی isBase64Encoded را می‌گذارد',
  'decode it first': 'نخست آن را بگشایید',
  'decode it first, or verify webhook-signature': 'نخست آن را بگشایید، یا webhook-signature را بسنجید',
  'use the secret as it was shown, character for character; its UTF-8 bytes are the key':
    'کلید امضا را همان‌گونه که نشان داده شد به کار ببرید؛ بایت‌های UTF-8 آن کلید است',
  'store the secret without a line break': 'کلید امضا را بدون پایان سطر ذخیره کنید',
  'pass the whole value unchanged: lower-case hexadecimal digits, no base64, no white space':
    'همهٔ مقدار را بی‌تغییر بدهید: رقم‌های شانزده‌شانزدهی کوچک، بدون base64 و فاصله',
  'another secret signed the body, or the body was changed in a way that cannot be determined':
    'کلید دیگری متن را امضا کرده، یا متن به شکلی تغییر کرده که معلوم نمی‌شود',
  'compare the secret with the one that `relay stores secret` or the registration of the webhook has shown, and log the length of the raw body beside Content-Length':
    'کلید امضا را با آنچه هنگام ساختن یا ثبت وب‌هوک نشان داده شد بسنجید، و طول متن خام را کنار Content-Length ثبت کنید',
  // Progress.
  'Announcing the new secret to the relay: {done} of {all}': 'اعلام کلید امضای تازه به رله: {done} از {all}',
  'Waiting for the relay to accept the secret: {done} of {all}':
    'صبر برای پذیرش کلید امضا در رله: {done} از {all}',
  'Accepting both secrets during the overlap: {done} of {all}': 'پذیرش هر دو کلید امضا: {done} از {all}',
  'Resending orders: {done} of {all}': 'فرستادن دوبارهٔ سفارش‌ها: {done} از {all}',
  'Comparing orders with the service: {done} of {all}': 'سنجش سفارش‌ها با سرویس: {done} از {all}',
  'Comparing orders with the service': 'سنجش سفارش‌ها با سرویس',
  // What cannot be done, and why.
  'Cannot {action}: {found}': '{action} ممکن نشد: {found}',
  interrupted: 'متوقف شد',
  'show the order': 'نمایش سفارش',
  'show the delivery': 'نمایش تحویل',
  'show the message': 'نمایش پیام',
  'show the runbook': 'نمایش دستورالعمل',
  'find the plan': 'یافتن برنامه',
  'delete the messages': 'حذف پیام‌ها',
  start: 'آغاز',
  finish: 'پایان',
  'go on': 'ادامه',
  'carry out the plan': 'اجرای برنامه',
  audit: 'حسابرسی',
  'list the orders': 'فهرست سفارش‌ها',
  'resend the order': 'فرستادن دوبارهٔ سفارش',
  'resend the orders': 'فرستادن دوبارهٔ سفارش‌ها',
  'resend all orders': 'فرستادن همهٔ سفارش‌ها',
  'register the webhook': 'ثبت وب‌هوک',
  'unregister the webhook': 'لغو ثبت وب‌هوک',
  'rotate the webhook secret': 'تعویض کلید امضای وب‌هوک',
  'confirm that the secret is accepted': 'تأیید پذیرش کلید امضا',
  'confirm that the webhook was processed': 'تأیید پردازش وب‌هوک',
  'wait for the webhook': 'صبر برای وب‌هوک',
  'send a webhook to {=url}': 'ارسال وب‌هوک به {url}',
  'sign the webhook': 'امضای وب‌هوک',
  'store the API key': 'ذخیرهٔ کلید API',
  'read the secret': 'خواندن کلید امضا',
  'read the webhook secret': 'خواندن کلید امضای وب‌هوک',
  "read the accounting service's API key": 'خواندن کلید API سرویس حسابداری',
  'use the URL "{=url}"': 'به کار بردن نشانی «{url}»',
  'use the accounting service': 'کار با سرویس حسابداری',
  'reach the local stack': 'دسترسی به پشتهٔ محلی',
  'reach the store': 'دسترسی به فروشگاه',
  'deliver to the store': 'تحویل به فروشگاه',
  'it answered {status}': 'پاسخ {status} داد',
  'reach AWS': 'دسترسی به AWS',
  'use AWS': 'کار با AWS',
  'read the log': 'خواندن گزارش',
  "find the relay's tables and queues": 'یافتن جدول‌ها و صف‌های رله',
  'find the store "{=source}"': 'یافتن فروشگاه «{source}»',
  'test the feed of "{=source}"': 'آزمودن خوراک «{source}»',
  'revoke the key "{=id}"': 'ابطال کلید «{id}»',
  'stores.yml has {=stores}; add it there and deploy':
    'stores.yml این‌ها را دارد: {stores}؛ آنجا بیفزایید و مستقر کنید',
  'there is no page "{=page}"': 'صفحهٔ «{page}» نیست',
  'the relay has no order "{=order}" of "{=source}"': 'رله سفارش «{order}» از «{source}» را ندارد',
  'see relay orders list{=flags}': 'relay orders list{flags} را ببینید',
  'see relay orders list': 'relay orders list را ببینید',
  'no delivery "{=id}" was queued in the last thirty days':
    'در سی روز گذشته تحویلی با شناسهٔ «{id}» پذیرفته نشده است',
  'it may have been refused, ignored or quarantined: {=command}':
    'شاید رد، نادیده‌گرفته یا قرنطینه شده باشد: {command}',
  'it is gone': 'دیگر نیست',
  'read the queue again': 'صف را دوباره بخوانید',
  'the console was restarted': 'کنسول دوباره آغاز شده است',
  'make it again, or open its file': 'دوباره بسازید، یا پرونده‌اش را بگشایید',
  'it was not confirmed by the name': 'با نام تأیید نشد',
  'type "{=name}"': 'بنویسید «{name}»',
  'the previous one is still running': 'کار پیشین پایان نیافته است',
  'wait for it to finish, or stop it': 'تا پایان صبر کنید، یا متوقفش کنید',
  '{count} replays failed in a row': '{count} پردازش پی‌درپی ناموفق بود',
  'fix the cause first': 'نخست علت را برطرف کنید',
  'the file holds none': 'پرونده برنامه‌ای ندارد',
  'make one with --plan': 'با --plan یکی بسازید',
  'it is for relay {=other}': 'برای رلهٔ {other} است',
  'the store has no secret': 'فروشگاه کلید امضا ندارد',
  'create it with "{=command}"': 'با «{command}» بسازید',
  'run the command again soon: the service may have created a new secret that the relay does not know':
    'به‌زودی دوباره اجرا کنید: شاید سرویس کلید امضای تازه‌ای ساخته باشد که رله نمی‌شناسد',
  'register it first: {=command}': 'نخست ثبتش کنید: {command}',
  'the secret is stored; check that this is the URL of this relay, and run the command again':
    'کلید امضا ذخیره شد؛ بررسی کنید که نشانی از آنِ همین رله باشد و دوباره اجرا کنید',
  'it could not be checked: {=reason}': 'آزموده نشد: {reason}',
  'use a key with the scope orders.write': 'کلیدی با دامنهٔ orders.write به کار ببرید',
  'try again later, or store it unchecked with --no-check': 'بعداً دوباره بیازمایید یا بدون آزمودن ذخیره کنید',
  'it is empty': 'خالی است',
  'it contains whitespace or line breaks': 'فاصله یا پایان سطر دارد',
  'pass it alone, on one line': 'تنها و در یک سطر بدهید',
  'it is not an http or https address': 'نشانی http یا https نیست',
  'pass one such as {=example}': 'مانند {example} بدهید',
  'check the URL and that the relay is up': 'نشانی را بررسی کنید و اینکه رله برپا باشد',
  'its body names no order and status': 'متنش سفارش و وضعیتی ندارد',
  'the order is not "{status}" after {count} s': 'سفارش پس از {count} ثانیه «{status}» نیست',
  'no response ({=reason})': 'پاسخی نیست ({reason})',
  'start it with: npm start': 'با npm start آغازش کنید',
  'check the network and --region': 'شبکه و --region را بررسی کنید',
  'sign in (AWS_PROFILE, aws sso login), or use --local':
    'وارد شوید (AWS_PROFILE، aws sso login) یا --local را به کار ببرید',
  'request this permission': 'این مجوز را درخواست کنید',
  'The session has ended: open the address that npm start or relay console printed':
    'نشست پایان یافت: نشانی‌ای را که npm start یا relay console نوشت بگشایید',
  // Findings of the doctor.
  'deliveries are remembered for as long as the sender retries':
    'تحویل‌ها تا وقتی فرستنده دوباره می‌فرستد به یاد می‌مانند',
  'remembered for {time}, retried for up to {longest}': 'ماندگاری {time}، تلاش دوباره تا {longest}',
  'raise DELIVERY_TTL_SECONDS and deploy': 'DELIVERY_TTL_SECONDS را بیشتر و مستقر کنید',
  'deliveries are remembered for as long as dead letters can be replayed':
    'تحویل‌ها تا وقتی پیام‌های ناکام دوباره پردازش‌پذیرند به یاد می‌مانند',
  'remembered for {time}, dead letters are kept for {kept}': 'ماندگاری {time}، پیام‌های ناکام {kept} می‌مانند',
  'raise DELIVERY_TTL_SECONDS, or lower the retention of dead letters, and deploy':
    'DELIVERY_TTL_SECONDS را بیشتر یا ماندگاری پیام‌های ناکام را کمتر و مستقر کنید',
  'messages stay invisible while the worker processes them': 'پیام‌ها هنگام پردازش پنهان می‌مانند',
  'visibility timeout {time}, worker timeout {limit}; AWS recommends a factor of six':
    'مهلت پنهان‌ماندن {time}، مهلت پردازشگر {limit}؛ توصیهٔ AWS شش برابر است',
  'raise VisibilityTimeout of the order queue, or lower the timeout of the worker, and deploy':
    'VisibilityTimeout صف سفارش‌ها را بیشتر یا مهلت پردازشگر را کمتر و مستقر کنید',
  'the receiver responds before the sender gives up': 'گیرنده پیش از پایان صبر فرستنده پاسخ می‌دهد',
  'timeout {time}, the sender waits {limit}': 'مهلت {time}، فرستنده {limit} صبر می‌کند',
  'lower the timeout of the webhook function and deploy': 'مهلت تابع وب‌هوک را کمتر و مستقر کنید',
  'failing messages become dead letters before they expire':
    'پیام‌های ناموفق پیش از انقضا به صف پیام‌های ناکام می‌روند',
  '{count} receives within at most {time}; retention is {kept}':
    '{count} دریافت در حداکثر {time}؛ ماندگاری {kept}',
  'the order queue has no dead-letter queue': 'صف سفارش‌ها صف پیام‌های ناکام ندارد',
  'deploy again': 'دوباره مستقر کنید',
  'lower maxReceiveCount of the order queue, or raise its retention, and deploy':
    'maxReceiveCount صف سفارش‌ها را کمتر یا ماندگاری‌اش را بیشتر و مستقر کنید',
  'the webhook is registered': 'وب‌هوک ثبت شده است',
  'no secret is stored for {=url}': 'برای {url} کلید امضایی نیست',
  'the relay accepts webhooks signed with its secret': 'رله وب‌هوک‌های امضاشده با کلیدش را می‌پذیرد',
  'try again in a minute, when the relay has read new secrets; otherwise check its clock and that the URL is its own':
    'یک دقیقهٔ دیگر که رله کلیدهای تازه را خوانده است دوباره بیازمایید؛ وگرنه ساعت و نشانی‌اش را بررسی کنید',
  'see the log: {=command}': 'گزارش را ببینید: {command}',
  'one secret is in use': 'یک کلید امضا در کار است',
  '{count} are: a rotation is not finished': '{count} کلید: تعویض کلید پایان نیافته است',
  'no other secret is accepted': 'کلید دیگری پذیرفته نیست',
  'accepted, but not of {=url}: {=others}': 'پذیرفته، ولی نه از {url}: {others}',
  'if they belong to an earlier URL: {=command}': 'اگر از نشانی پیشین‌اند: {command}',
  'the accounting service accepts the API key': 'سرویس حسابداری کلید API را می‌پذیرد',
  'set a key with the scope orders.write: {=command}': 'کلیدی با دامنهٔ orders.write بگذارید: {command}',
  'no key is stored': 'کلیدی نیست',
  'check that it is up; events wait until then': 'بررسی کنید که برپا باشد؛ رویدادها تا آن گاه می‌مانند',
  'the clocks of the service and the relay agree': 'ساعت سرویس و رله یکی است',
  '{count} s apart; the tolerance is {most} s': '{count} ثانیه اختلاف؛ تا {most} پذیرفته است',
  'correct the clock of the accounting service': 'ساعت سرویس حسابداری را درست کنید',
  'correct the clock of the accounting service: all its webhooks are refused':
    'ساعت سرویس حسابداری را درست کنید: همهٔ وب‌هوک‌هایش رد می‌شوند',
  'the order queue is processed': 'صف سفارش‌ها پردازش می‌شود',
  'no messages wait': 'پیامی منتظر نیست',
  '{messages}, {count} of them in progress or waiting for a retry':
    '{messages}، {count} در حال پردازش یا منتظر تلاش دوباره',
  'no store imports orders': 'هیچ فروشگاهی ورود انبوه ندارد',
  'the bulk queue is empty': 'صف انبوه خالی است',
  '{messages} in the bulk queue': '{messages} در صف انبوه',
  'dead letters': 'پیام‌های ناکام',
  quarantine: 'قرنطینه',
  none: 'هیچ',
  'see {=list}, fix the cause, then {=replay}': '{list} را ببینید، علت را برطرف کنید، سپس {replay}',
  'see {=list}; once a new version can read it, {=replay}':
    '{list} را ببینید؛ وقتی نسخهٔ تازه بتواند بخواند، {replay}',
  'the feed of "{=source}"': 'خوراک «{source}»',
  'it has no signing secret': 'کلید امضا ندارد',
  '{count} dead letters that its consumer could not handle':
    '{count} پیام ناکام که مصرف‌کننده‌اش از عهده برنیامده',
  '{messages} not received yet': '{messages} هنوز دریافت نشده',
  'check that the store reads its queue': 'بررسی کنید که فروشگاه صفش را بخواند',
  'its queue does not exist': 'صفش وجود ندارد',
  'restart npm start': 'npm start را از نو آغاز کنید',
  'deploy the stores.yml of this checkout': 'stores.yml همین نسخه را مستقر کنید',
  'the key of "{=source}"': 'کلید «{source}»',
  'it has none, so it cannot use the API': 'ندارد و نمی‌تواند از API استفاده کند',
  'the index of keys and secrets': 'نمایهٔ کلیدها',
  'it differs from them': 'با آن‌ها نمی‌خواند',
  'the keys of "{=source}"': 'کلیدهای «{source}»',
  'stored, but the store is not in stores.yml': 'هست، ولی فروشگاه در stores.yml نیست',
  'alarms reach somebody': 'هشدارها به کسی می‌رسند',
  '{count} subscriptions of {=topic}': '{count} اشتراک {topic}',
  '1 subscription of {=topic}': '۱ اشتراک {topic}',
  'the subscription is not confirmed': 'اشتراک تأیید نشده است',
  'open the link in the e-mail from AWS': 'پیوند درون رایانامهٔ AWS را بگشایید',
  'nobody is subscribed to {=topic}': 'کسی مشترک {topic} نیست',
  'deploy with ALARM_EMAIL, or subscribe to the topic': 'با ALARM_EMAIL مستقر کنید یا مشترک شوید',
  "the account's Lambda concurrency suffices": 'همزمانی Lambda در این حساب بس است',
  'quota {quota}, {unreserved} of them unreserved; queues use up to {reading}, {reserved} are reserved for the endpoints':
    'سهمیه {quota}، از آن {unreserved} آزاد؛ صف‌ها تا {reading}، ورودی‌ها {reserved}',
  'request a higher quota, or lower workerConcurrency: docs/operate.md, Quotas':
    'سهمیهٔ بیشتر بخواهید یا workerConcurrency را کمتر کنید: docs/operate.md، Quotas',
  'check {=topic}': 'بررسی {topic}',
  'fix this and run the command again': 'این را برطرف و دوباره اجرا کنید',
  '1 message': '۱ پیام',
  '{count} messages': '{count} پیام',
  '{count} seconds': '{count} ثانیه',
  '{count} minutes': '{count} دقیقه',
  '{count} hours': '{count} ساعت',
  '{count} days': '{count} روز',
  // Findings about a store.
  'Checking: {done} of {all}': 'بررسی {done} از {all}',
  duplicates: 'پیام‌های تکراری',
  'same version': 'همان نسخه',
  'old versions': 'نسخه‌های کهنه',
  reordering: 'به‌هم‌ریختن ترتیب',
  failures: 'ناکامی‌ها',
  signatures: 'امضاها',
  'raw body': 'متن خام',
  'secret rotation': 'تعویض کلید امضا',
  'test message': 'پیام آزمایشی',
  'time-outs': 'پایان مهلت',
  restarts: 'آغاز دوباره',
  outages: 'قطعی‌ها',
  kills: 'کشته‌شدن',
  'other checks': 'بررسی‌های دیگر',
  'not judged': 'داوری نشد',
  'first fix "{check}"': 'نخست «{check}» را درست کنید',
  'pass --handled, or the command that starts the store':
    'بگویید پیام‌های انجام‌شده را کجا یادداشت می‌کند، یا با دستور relay conformance خودتان آغازش کنید',
  'pass the command that starts the store after "--"':
    'با دستور relay conformance بیازمایید و آنچه فروشگاه را آغاز می‌کند پس از «--» بیاورید',
  '{when}, the store {did}': '{when}، فروشگاه {did}',
  'When the first message arrived': 'وقتی نخستین پیام رسید',
  'When messages were repeated': 'وقتی پیام‌ها دوباره رسیدند',
  'When another message of the same version arrived': 'وقتی پیام دیگری با همان نسخه رسید',
  'When an older version arrived late': 'وقتی نسخه‌ای کهنه دیر رسید',
  'When the messages of many orders were interleaved': 'وقتی پیام‌های سفارش‌های بسیار درهم رسیدند',
  'When it could not read one message of a batch': 'وقتی یکی از پیام‌ها خوانا نبود',
  'When a signature was not valid': 'وقتی امضا نادرست بود',
  'When the JSON of a message contained white space': 'وقتی JSON پیام فاصله داشت',
  'While its secret was being rotated, and afterwards': 'هنگام تعویض کلید امضا و پس از آن',
  'When "relay stores test" sent {=event}, which is about no order':
    'وقتی relay stores test پیام {event} را فرستاد که دربارهٔ سفارشی نیست',
  'After a time-out, when a message was repeated': 'وقتی پیامی پس از پایان مهلت تکرار شد',
  'handled nothing': 'کاری نکرد',
  'handled each change once and in order': 'هر تغییر را یک بار و به ترتیب انجام داد',
  'acknowledged everything; what it handled is not known':
    'همه را پذیرفت؛ معلوم نیست چه چیزی را انجام داده است',
  'handled version {version}, which it must drop: the order is wrong':
    'نسخهٔ {version} را که باید کنار می‌گذاشت انجام داد: سفارش نادرست است',
  'acknowledged version {version} and did not handle it: a change of the order is lost':
    'نسخهٔ {version} را پذیرفت و انجام نداد: یک تغییر سفارش گم شده است',
  'handled version {version} {count} times: the order is doubled':
    'نسخهٔ {version} را {count} بار انجام داد: سفارش دوباره انجام شده است',
  'handled version {version} before version {other}: the order is set back':
    'نسخهٔ {version} را پیش از {other} انجام داد: سفارش به عقب برگشته است',
  'acknowledged version {version}, which it had not handled: a change of the order is lost':
    'نسخهٔ {version} را پذیرفت که انجام نداده بود: یک تغییر سفارش گم شده است',
  'handled version {version} before version {other}, which had failed: the order is set back':
    'نسخهٔ {version} را پیش از {other} که ناموفق بود انجام داد: سفارش به عقب برگشته است',
  'did not acknowledge version {version} ({reason}): the relay would try again until it is a dead letter, and hold up the order':
    'نسخهٔ {version} را نپذیرفت ({reason}): رله تا ناکام‌شدن پیام دوباره می‌کوشد و سفارش معطل می‌ماند',
  'left {messages} in the queue for {seconds} s (--wait): what is not deleted returns, and holds up its order':
    '{messages} را {seconds} ثانیه در صف گذاشت: آنچه حذف نشود برمی‌گردد و سفارشش را معطل می‌کند',
  'did not answer 401 to what {why}: {answer}': 'به پیامی که {why} پاسخ ۴۰۱ نداد: {answer}',
  'was signed at another time': 'در زمان دیگری امضا شده بود',
  'another secret signed': 'با کلید دیگری امضا شده بود',
  'it acknowledged the message': 'پیام را پذیرفت',
  'start the store with the secret or queue of its feed; it verifies the raw bytes of the body ("relay explain-signature" helps), and notes each delivery that it handles, once':
    'فروشگاه را با کلید یا صف خوراکش آغاز کنید؛ باید بایت‌های خام متن را بسنجد (relay explain-signature کمک می‌کند) و هر تحویلی را که انجام می‌دهد یک بار یادداشت کند',
  'remember the version and deliveries of an order in the transaction that handles a message':
    'نسخه و تحویل‌های سفارش را در همان تراکنشی نگه دارید که پیام را انجام می‌دهد',
  '{remember}, which begins with a lock of the order, and answer 2xx to what was handled before':
    '{remember}؛ تراکنش با قفل سفارش آغاز شود و به آنچه پیش‌تر انجام شده 2xx پاسخ دهید',
  'compare the delivery, too, when the version is the last one':
    'وقتی نسخه همان آخری است، تحویل را هم بسنجید',
  'remember versions by source and external_id, and handle the messages of an order one by one':
    'نسخه‌ها را با source و external_id نگه دارید و پیام‌های هر سفارش را یکی‌یکی انجام دهید',
  'answer 500, or delete neither the message nor those behind it of its order; go on with others':
    'پاسخ 500 دهید، یا پیام و پیام‌های پشت آن از همان سفارش را حذف نکنید؛ با دیگران ادامه دهید',
  'verify X-Service-Signature over the raw body, and its t within {seconds} seconds; answer 401':
    'X-Service-Signature را بر متن خام و t را تا {seconds} ثانیه بسنجید؛ پاسخ 401 دهید',
  'verify the bytes of the body before anything parses it': 'بایت‌های متن را پیش از هر تجزیه‌ای بسنجید',
  'compare every v1 of X-Service-Signature': 'همهٔ v1های X-Service-Signature را بسنجید',
  'answer 2xx and do nothing': 'پاسخ 2xx دهید و کاری نکنید',
  'test the store "{=source}"': 'آزمودن فروشگاه «{source}»',
  '{messages} of real orders may wait in {=queue}': '{messages} از سفارش‌های واقعی شاید در {queue} مانده باشد',
  'let the store consume them first': 'بگذارید فروشگاه نخست آن‌ها را بگیرد',
  'a store of {=title} would take messages about test orders':
    'فروشگاهی از {title} پیام‌هایی دربارهٔ سفارش‌های آزمایشی می‌گرفت',
  'use --local, or pass --test-store if it has no customers':
    '--local را به کار ببرید، یا اگر مشتری ندارد --test-store',
  'read what the store has handled from "{=place}"': 'خواندن آنچه فروشگاه انجام داده از «{place}»',
  'check --handled': 'جایش را بررسی کنید',
  'The log has ended': 'گزارش پایان یافت',
  // What would match others, too.
  '{=url} refuses {=id}': '{url} کلید {id} را نمی‌پذیرد',
  '{=url}, since {time}': '{url}، از {time}',
  '{=url} accepts {=id}': '{url} کلید {id} را می‌پذیرد',
  '{=url} does not answer with a date': 'پاسخ {url} تاریخ ندارد',
  '{=command} shows why they wait': '{command} نشان می‌دهد چرا منتظرند',
  '{=command} shows what its endpoint answers': '{command} نشان می‌دهد نقطهٔ دریافت چه پاسخ می‌دهد',
  '{=url} answers {status} to a signed ping': '{url} به آزمون امضاشده پاسخ {status} می‌دهد',
})
