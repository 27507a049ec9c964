/** Persian translations of the messages of the relay and its commands, by their English texts. */
export const MESSAGES = {
  // Differences and outcomes of an audit.
  'order ~is "{ours}" here and unknown to the service': 'سفارش اینجا «{ours}» است ولی در سرویس وجود ندارد',
  'order ~is unknown here and "{theirs}" at the service':
    'سفارش در سرویس «{theirs}» است ولی اینجا وجود ندارد',
  'order ~is "{ours}" here and "{theirs}" at the service': 'سفارش اینجا «{ours}» و در سرویس «{theirs}» است',
  'order ~cannot be read from the service: {reason}': 'سفارش از سرویس خوانده نشد: {reason}',
  'order ~differs in {fields}': 'سفارش در این موارد مغایرت دارد: {fields}',
  queued: 'در صف',
  duplicate: 'تکراری',
  quarantined: 'قرنطینه شده',
  'ignored: {why}': 'نادیده‌گرفته: {why}',
  'refused: {why}': 'ردشده: {why}',
  // Kinds of requests, and why they wait.
  create: 'ثبت سفارش',
  payment: 'پرداخت',
  refund: 'مرجوعی',
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
  feed: 'فید',
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
  headers: 'هدرها',
  body: 'متن',
  cut: 'بریده',
  // Why an event fails.
  'The breaker is open: the accounting service was unavailable':
    'ارسال موقتاً متوقف است: سرویس حسابداری در دسترس نبود',
  'The accounting service answered {status}': 'سرویس حسابداری پاسخ {status} داد',
  'The accounting service answered {status} to a create: check ACCOUNTING_URL':
    'سرویس حسابداری به ثبت سفارش پاسخ {status} داد: ACCOUNTING_URL را بررسی کنید',
  'The accounting service answered without a result of the order': 'پاسخ سرویس حسابداری نتیجهٔ سفارش را نداشت',
  'Cannot reach the accounting service: {=reason}': 'سرویس حسابداری در دسترس نیست: {reason}',
  'Not enough time remains for another call in this invocation': 'در این اجرا زمانی برای فراخوانی دیگر نماند',
  // Groups of failures, and what a plan does.
  'order queue: ~{=event} of {=source}': 'صف سفارش‌ها: {event} از {source}',
  'feed: ~{=event} of {=source}': 'فید: {event} از {source}',
  'order queue: {failure}': 'صف سفارش‌ها: {failure}',
  webhook: 'وب‌هوک',
  worker: 'پردازشگر',
  'webhook: {failure}': 'وب‌هوک: {failure}',
  'worker: {failure}': 'پردازشگر: {failure}',
  'no call': 'بدون فراخوانی',
  'no call: the store is notified again': 'بدون فراخوانی: به فروشگاه دوباره اطلاع داده می‌شود',
  'no call: the worker cannot read it and quarantines it':
    'بدون فراخوانی: پردازشگر نمی‌تواند آن را بخواند و قرنطینه می‌کند',
  'GET order: ~"{status}"': 'خواندن سفارش: «{status}»',
  'GET order: {outcome}': 'خواندن سفارش: {outcome}',
  'POST {=to} {=request}: {outcome}': 'فراخوانی {to} {request}: {outcome}',
  'feed: {=event} ~(status "{status}")': 'فید: {event} (وضعیت «{status}»)',
  'feed: {failure}': 'فید: {failure}',
  'unpredictable: {reason}': 'غیرقابل پیش‌بینی: {reason}',
  'unknown order': 'سفارش ناشناس',
  'rejected: the service does not know the order': 'رد می‌شود: سفارش در سرویس وجود ندارد',
  'expected status "{status}"': 'وضعیت مورد انتظار: «{status}»',
  'no change: already "{status}"': 'بدون تغییر: هم‌اکنون «{status}» است',
  'held ~until the invoice is finalized': 'معلق تا قطعی‌شدن فاکتور',
  'refused ~until the invoice is finalized': 'رد می‌شود تا فاکتور قطعی شود',
  deleted: 'حذف می‌شود',
  'kept: still unreadable': 'می‌ماند: هنوز ناخوانا است',
  'kept: belongs to no store in stores.yml': 'می‌ماند: فروشگاه آن در stores.yml نیست',
  'kept: an earlier message of the same order must be replayed first':
    'می‌ماند: ابتدا پیام قبلی همین سفارش باید پردازش شود',
  'deleted: the same delivery was received again in the meantime':
    'حذف می‌شود: همین وب‌هوک در این فاصله دوباره دریافت شده است',
  'It was not sent by the relay': 'رله آن را نفرستاده است',
  'Field {=name} ~is missing': 'فیلد {name} وجود ندارد',
  // Why a delivery was ignored or refused.
  'foreign source': 'فروشگاه ناشناس',
  'other event': 'رویداد دیگر',
  probe: 'پینگ آزمایشی',
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
    '{url} قبلاً ثبت شده است (از {time}، کلید {id}). برای تعویض کلید: {command}',
  'The relay accepts webhooks signed with it.': 'رله وب‌هوک‌های امضاشده با آن را می‌پذیرد.',
  'The accounting service no longer sends webhooks to {=url}; ~1 ~secret~ deleted.':
    'سرویس حسابداری دیگر وب‌هوکی به {url} نمی‌فرستد؛ یک کلید امضا حذف شد.',
  'The accounting service no longer sends webhooks to {=url}; ~{count} ~secret~s deleted.':
    'سرویس حسابداری دیگر وب‌هوکی به {url} نمی‌فرستد؛ {count} کلید امضا حذف شد.',
  'The secret {=id} is in use. The old one remains valid; run ~{=command} ~again after {time} to retire it.':
    'کلید {id} در حال استفاده است. کلید قبلی هنوز معتبر است؛ برای حذف آن، {command} را پس از {time} دوباره اجرا کنید.',
  'The ~secret {=id} is in use; retired: {=others}.': 'کلید {id} در حال استفاده است؛ حذف‌شده: {others}.',
  'Finished an earlier rotation: the ~secret {=id} is in use; retired: {=others}.':
    'تعویض ناتمام قبلی تکمیل شد: کلید {id} در حال استفاده است؛ حذف‌شده: {others}.',
  // What is wrong with a signature.
  'Cannot read the request: ~Received must be a time such as {=example}':
    'زمان دریافت باید مانند {example} باشد',
  'the signature is valid': 'امضا معتبر است',
  'Cannot verify the signature: {what}': 'امضا قابل بررسی نیست: {what}',
  'the header X-Service-Signature is missing': 'هدر X-Service-Signature وجود ندارد',
  'the header must have one t=<unix time>': 'هدر باید یک t=<زمان یونیکس> داشته باشد',
  'the header must have v1=<64 lower-case hexadecimal digits>':
    'هدر باید v1=<۶۴ رقم هگز با حروف کوچک> داشته باشد',
  'the signature is {count} seconds old': 'امضا {count} ثانیه قدیمی است',
  'the signature is {count} seconds in the future': 'زمان امضا {count} ثانیه در آینده است',
  'set the clock; for a delivery that waited, pass the time of its arrival as receivedAt':
    'ساعت را تنظیم کنید؛ برای وب‌هوکی که منتظر مانده، زمان دریافتش را وارد کنید',
  'white space around the body was added': 'در ابتدا یا انتهای متن فاصله اضافه شده است',
  'a line break at the end of the body was removed': 'پایان سطر از انتهای متن حذف شده است',
  'the body was parsed and written again': 'متن parse و دوباره ساخته شده است',
  'the body was parsed and written again, with its fields in another order~; {=otherwise}':
    'متن parse و با ترتیب دیگری از فیلدها دوباره ساخته شده است؛ یا با کلید دیگری امضا شده است',
  'line breaks of the body were changed': 'نویسه‌های پایان سطر در متن تغییر کرده است',
  'the body was read in a character set other than UTF-8': 'متن با کدگذاری غیر از UTF-8 خوانده شده است',
  'the body was read in another character set, and some of it is lost~; {=otherwise}':
    'متن با کدگذاری دیگری خوانده شده و بخشی از آن از دست رفته است؛ یا با کلید دیگری امضا شده است',
  'the body is base64': 'متن base64 است',
  'the body is empty: something else has read it~; {=otherwise}':
    'متن خالی است: بخش دیگری از برنامه آن را خوانده است؛ یا با کلید دیگری امضا شده است',
  'the body is not JSON: it was cut off or changed~; {=otherwise}':
    'متن JSON نیست: ناقص یا تغییر کرده است؛ یا با کلید دیگری امضا شده است',
  'there are quotes around the secret': 'کلید امضا داخل علامت نقل‌قول است',
  'a line break is part of the secret that signs': 'کلید امضا یک نویسهٔ پایان سطر دارد',
  'the prefix whsec_ does not belong to the secret': 'پیشوند whsec_ جزو کلید نیست',
  'the prefix whsec_ of the secret is missing': 'پیشوند whsec_ از کلید جا افتاده است',
  'the sender decodes the secret from base64': 'فرستنده کلید را از base64 دیکد می‌کند',
  'the sender decodes the secret from hex': 'فرستنده کلید را از هگز دیکد می‌کند',
  'the secret was decoded from base64': 'کلید از base64 دیکد شده است',
  '{first}, and {second}': '{first}، و {second}',
  'verify the raw bytes of the request before anything parses or changes them':
    'امضا را روی بایت‌های خام درخواست و قبل از هر پردازشی بررسی کنید',
  'read the body as bytes, or as UTF-8': 'متن را به شکل بایت یا با UTF-8 بخوانید',
  'decode it first: API Gateway sets isBase64Encoded for such a body':
    'ابتدا آن را دیکد کنید: API Gateway برای چنین متنی isBase64Encoded را تنظیم می‌کند',
  'decode it first': 'ابتدا آن را دیکد کنید',
  'decode it first, or verify webhook-signature': 'ابتدا آن را دیکد کنید، یا webhook-signature را بررسی کنید',
  'use the secret as it was shown, character for character; its UTF-8 bytes are the key':
    'کلید را دقیقاً همان‌طور که نمایش داده شد استفاده کنید؛ بایت‌های UTF-8 آن کلید است',
  'store the secret without a line break': 'کلید امضا را بدون پایان سطر ذخیره کنید',
  'pass the whole value unchanged: lower-case hexadecimal digits, no base64, no white space':
    'مقدار را کامل و بدون تغییر وارد کنید: هگز با حروف کوچک، بدون base64 و فاصله',
  'another secret signed the body, or the body was changed in a way that cannot be determined':
    'متن با کلید دیگری امضا شده، یا به شکل نامشخصی تغییر کرده است',
  'compare the secret with the one that `relay stores secret` or the registration of the webhook has shown, and log the length of the raw body beside Content-Length':
    'کلید را با کلیدی که هنگام ساخت یا ثبت وب‌هوک نمایش داده شد مقایسه کنید و طول متن خام را کنار Content-Length در لاگ بنویسید',
  // Progress.
  'Announcing the new secret to the relay~: {done} of {all}': 'اعلام کلید جدید به رله: {done} از {all}',
  'Waiting for the relay to accept the secret~: {done} of {all}':
    'انتظار برای پذیرش کلید در رله: {done} از {all}',
  'Accepting both secrets during the overlap~: {done} of {all}': 'پذیرش همزمان هر دو کلید: {done} از {all}',
  'Resending orders~: {done} of {all}': 'ارسال مجدد سفارش‌ها: {done} از {all}',
  'Comparing orders with the service~: {done} of {all}': 'مقایسهٔ سفارش‌ها با سرویس: {done} از {all}',
  'Comparing orders with the service': 'مقایسهٔ سفارش‌ها با سرویس',
  // What cannot be done, and why.
  'Cannot {action}: {found}': '{action} ممکن نشد: {found}',
  interrupted: 'متوقف شد',
  'show ~the order': 'نمایش سفارش',
  'show the delivery': 'نمایش وب‌هوک',
  'show the message': 'نمایش پیام',
  'show the runbook': 'نمایش راهنمای رفع مشکل',
  'find the plan': 'پیدا کردن برنامه',
  'delete the messages': 'حذف پیام‌ها',
  start: 'شروع',
  finish: 'پایان',
  continue: 'ادامه',
  'carry out the plan': 'اجرای برنامه',
  audit: 'تطبیق',
  'list the orders': 'فهرست کردن سفارش‌ها',
  'resend the order': 'ارسال مجدد سفارش',
  'resend the orders': 'ارسال مجدد سفارش‌ها',
  'resend all orders': 'ارسال مجدد همهٔ سفارش‌ها',
  'register the webhook': 'ثبت وب‌هوک',
  'unregister the webhook': 'لغو ثبت وب‌هوک',
  'rotate the webhook secret': 'تعویض کلید امضای وب‌هوک',
  'confirm that the secret is accepted': 'تأیید پذیرش کلید امضا',
  'confirm that the webhook was processed': 'تأیید پردازش وب‌هوک',
  'wait for the webhook': 'انتظار برای وب‌هوک',
  'send a webhook to {=url}': 'ارسال وب‌هوک به {url}',
  'sign the webhook': 'امضای وب‌هوک',
  'store the API key': 'ذخیرهٔ کلید API',
  'read the secret': 'خواندن کلید امضا',
  'read ~the webhook secret': 'خواندن کلید امضای وب‌هوک',
  "read ~the accounting service's API key": 'خواندن کلید API سرویس حسابداری',
  'use the URL "{=url}"': 'استفاده از نشانی «{url}»',
  'use the accounting service': 'استفاده از سرویس حسابداری',
  'reach the local stack': 'دسترسی به استک محلی',
  'use the local stack': 'استفاده از استک محلی',
  'reach the store': 'دسترسی به فروشگاه',
  'deliver to the store': 'تحویل به فروشگاه',
  'it answered {status}': 'پاسخ {status} داد',
  'reach AWS': 'دسترسی به AWS',
  'use AWS': 'استفاده از AWS',
  'read the log': 'خواندن لاگ',
  "find the relay's tables and queues": 'پیدا کردن جدول‌ها و صف‌های رله',
  'find the store "{=source}"': 'پیدا کردن فروشگاه «{source}»',
  'test the feed of "{=source}"': 'آزمایش فید «{source}»',
  'revoke the key "{=id}"': 'ابطال کلید «{id}»',
  'stores.yml has {=stores}~; ~add it there and deploy':
    'فروشگاه‌های stores.yml: {stores}؛ آن را اضافه و مستقر کنید',
  'there is no page "{=page}"': 'صفحهٔ «{page}» وجود ندارد',
  'the relay has no order "{=order}" of "{=source}"': 'رله سفارش «{order}» از «{source}» را ندارد',
  'see relay orders list{=flags}': 'relay orders list{flags} را ببینید',
  'see relay orders list': 'relay orders list را ببینید',
  'no delivery "{=id}" was queued in the last thirty days':
    'در سی روز گذشته وب‌هوکی با شناسهٔ «{id}» در صف قرار نگرفته است',
  'it may have been refused, ignored or quarantined: {=command}':
    'ممکن است رد، نادیده گرفته یا قرنطینه شده باشد: {command}',
  'it is gone': 'دیگر وجود ندارد',
  'read the queue again': 'صف را دوباره بخوانید',
  'the console was restarted': 'کنسول دوباره راه‌اندازی شده است',
  'make it again, or open its file': 'دوباره بسازید یا فایل آن را باز کنید',
  'it was not confirmed by the name': 'نام برای تأیید وارد نشد',
  'type "{=name}"': '«{name}» را وارد کنید',
  'the previous one is still running': 'کار قبلی هنوز تمام نشده است',
  'wait for it to finish, or stop it': 'منتظر پایان آن بمانید یا متوقفش کنید',
  '{count} consecutive replays failed': '{count} پردازش مجدد پیاپی ناموفق بود',
  'fix the cause first': 'ابتدا علت را رفع کنید',
  'the file contains none': 'این فایل برنامه‌ای ندارد',
  'make one with --plan': 'با --plan یکی بسازید',
  'it is for relay {=other}': 'برای رلهٔ {other} است',
  'the store has no secret': 'فروشگاه کلید امضا ندارد',
  'create it with ~"{=command}"': 'با «{command}» بسازید',
  'run the command again soon: the service may have created a new secret that the relay does not know':
    'به‌زودی دوباره اجرا کنید: ممکن است سرویس کلید جدیدی ساخته باشد که رله آن را ندارد',
  'register it first: {=command}': 'ابتدا آن را ثبت کنید: {command}',
  'the secret is stored; check that this is the URL of this relay, and run the command again':
    'کلید ذخیره شد؛ مطمئن شوید نشانی متعلق به همین رله است و دوباره اجرا کنید',
  'it could not be checked: {=reason}': 'بررسی نشد: {reason}',
  'use a key with the scope orders.write': 'از کلیدی با دسترسی orders.write استفاده کنید',
  'try again later, or store it unchecked with --no-check':
    'بعداً دوباره امتحان کنید یا بدون بررسی ذخیره کنید',
  'it is empty': 'خالی است',
  'it contains whitespace or line breaks': 'فاصله یا پایان سطر دارد',
  'pass it alone, on one line': 'آن را به‌تنهایی و در یک سطر وارد کنید',
  'it is not an http or https address': 'نشانی http یا https نیست',
  'pass one such as {=example}': 'مانند {example} وارد کنید',
  'check the URL and that the relay is up': 'نشانی و در حال اجرا بودن رله را بررسی کنید',
  'its body names no order and status': 'متن آن سفارش و وضعیت ندارد',
  'the order is not "{status}" after {count} s': 'سفارش پس از {count} ثانیه «{status}» نیست',
  'no response ({=reason})': 'پاسخی نیامد ({reason})',
  'there are no credentials in {=folder}': 'در {folder} اطلاعات ورود وجود ندارد',
  'start it with: npm start': 'با npm start اجرا کنید',
  'check the network and --region': 'شبکه و --region را بررسی کنید',
  'sign in (AWS_PROFILE, aws sso login), or use --local':
    'وارد حساب شوید (AWS_PROFILE، aws sso login) یا از --local استفاده کنید',
  'request this permission': 'این دسترسی را درخواست کنید',
  'There is no session, or it has ended: open the last address that npm start or relay console printed; each works once':
    'نشست شما تمام شده یا وجود ندارد: آخرین نشانی‌ای را که npm start یا relay console چاپ کرده باز کنید؛ هر نشانی فقط یک بار کار می‌کند',
  'no secret is stored for {=url}': 'برای {url} کلید امضایی ذخیره نشده است',
  'set a key with the scope orders.write: {=command}': 'کلیدی با دسترسی orders.write تنظیم کنید: {command}',
  quarantine: 'قرنطینه',
  '1 message': '۱ پیام',
  '{count} messages': '{count} پیام',
  // Findings about a store.
  'Checking~: {done} of {all}': 'بررسی {done} از {all}',
  duplicates: 'پیام‌های تکراری',
  'same version': 'نسخهٔ یکسان',
  'old versions': 'نسخه‌های قدیمی',
  reordering: 'تغییر ترتیب',
  failures: 'خطاها',
  signatures: 'امضاها',
  'raw body': 'متن خام',
  'secret rotation': 'تعویض کلید امضا',
  'test message': 'پیام آزمایشی',
  'time-outs': 'پایان مهلت',
  restarts: 'راه‌اندازی مجدد',
  outages: 'قطعی‌ها',
  kills: 'توقف ناگهانی',
  'other checks': 'بررسی‌های دیگر',
  'not judged': 'ارزیابی نشد',
  'not applicable': 'مورد ندارد',
  'the store is exact: its messages have no version and are order.updated':
    'پیام‌های این فروشگاه عین سرویس است: نسخه ندارند و همه order.updated هستند',
  'the store is exact, and {=event} is not an event of the service':
    'پیام‌های این فروشگاه عین سرویس است و {event} رویداد سرویس نیست',
  'test a store without customers with "~{=command}"': 'فروشگاهی بدون مشتری را با «{command}» آزمایش کنید',
  'remember deliveries in the transaction that handles a message':
    'شناسهٔ پیام‌ها را در همان تراکنشی ذخیره کنید که پیام را پردازش می‌کند',
  'answer 401 to a message signed with another secret; the relay then signs it with the replaced one':
    'به پیامی که با کلید دیگری امضا شده پاسخ 401 دهید؛ رله سپس آن را با کلید قبلی امضا می‌کند',
  'first fix "{check}"': 'ابتدا «{check}» را رفع کنید',
  'pass --handled, or the command that starts the store':
    'محل ثبت پیام‌های پردازش‌شده را وارد کنید یا فروشگاه را با دستور relay conformance اجرا کنید',
  'pass the command that starts the store after "--"':
    'با دستور relay conformance آزمایش کنید و دستور اجرای فروشگاه را پس از «--» بنویسید',
  '{when}, the store {did}': '{when}، فروشگاه {did}',
  'When the first message arrived': 'وقتی اولین پیام رسید',
  'When messages were repeated': 'وقتی پیام‌ها تکرار شدند',
  'When another message of the same version arrived': 'وقتی پیام دیگری با همان نسخه رسید',
  'When an older version arrived late': 'وقتی نسخه‌ای قدیمی دیر رسید',
  'When the messages of many orders were interleaved': 'وقتی پیام‌های چند سفارش درهم رسیدند',
  'When it could not read one message of a batch': 'وقتی یکی از پیام‌های دسته ناخوانا بود',
  'When a signature was not valid': 'وقتی امضا نامعتبر بود',
  'When the JSON of a message contained white space': 'وقتی JSON پیام فاصله داشت',
  'While its secret was being rotated, and afterwards': 'هنگام تعویض کلید امضا و پس از آن',
  'When "relay stores test" sent {=event}, which has no order':
    'وقتی relay stores test پیام {event} را فرستاد که دربارهٔ سفارشی نیست',
  'After a timeout, when a message was repeated': 'وقتی پیامی پس از پایان مهلت تکرار شد',
  'handled nothing': 'هیچ پیامی را پردازش نکرد',
  'handled each change once and in order': 'هر تغییر را یک بار و به ترتیب پردازش کرد',
  'acknowledged everything; which messages it handled is unknown':
    'همه را تأیید کرد؛ مشخص نیست کدام‌ها را پردازش کرده است',
  'handled version {version}, which it must drop: the order is wrong':
    'نسخهٔ {version} را که باید کنار می‌گذاشت پردازش کرد: سفارش نادرست است',
  'acknowledged version {version} and did not handle it: a change of the order is lost':
    'نسخهٔ {version} را تأیید کرد ولی پردازش نکرد: یک تغییر سفارش از دست رفته است',
  'handled version {version} {count} times: the change is applied again':
    'نسخهٔ {version} را {count} بار پردازش کرد: تغییر دوباره اعمال شده است',
  'handled version {version} before version {other}: the order reverts to an older state':
    'نسخهٔ {version} را قبل از {other} پردازش کرد: سفارش به وضعیت قبلی برگشته است',
  'acknowledged version ~{version}~, which it had not handled: a change of the order is lost':
    'نسخهٔ {version} را بدون پردازش تأیید کرد: یک تغییر سفارش از دست رفته است',
  'handled version ~{version}~ before version ~{other}~, which had failed: the order reverts to an older state':
    'نسخهٔ {version} را قبل از {other} که خطا داده بود پردازش کرد: سفارش به وضعیت قبلی برگشته است',
  'did not acknowledge version {version} ({reason}): the relay would retry it until it is a dead letter, and block the order':
    'نسخهٔ {version} را تأیید نکرد ({reason}): رله آن‌قدر تلاش می‌کند تا پیام به DLQ برود و سفارش معطل می‌ماند',
  'left {messages} in the queue for {seconds} s (--wait): undeleted messages return and block their order':
    '{messages} را {seconds} ثانیه در صف گذاشت: پیام حذف‌نشده برمی‌گردد و سفارش خود را معطل می‌کند',
  'did not return 401 to a message that {why}: {answer}': 'به پیامی که {why} پاسخ ۴۰۱ نداد: {answer}',
  'was signed at another time': 'در زمان دیگری امضا شده بود',
  'was signed with another secret': 'با کلید دیگری امضا شده بود',
  'it acknowledged the message': 'پیام را تأیید کرد',
  'start the store with the secret or queue of its feed; it verifies the raw bytes of the body ("relay explain-signature" helps), and notes each delivery that it handles, once':
    'فروشگاه را با کلید یا صف فید آن اجرا کنید؛ باید امضا را روی بایت‌های خام متن بررسی کند (relay explain-signature کمک می‌کند) و شناسهٔ هر پیام پردازش‌شده را یک بار ثبت کند',
  'remember the version and deliveries of an order in the transaction that handles a message':
    'نسخه و شناسهٔ پیام‌های سفارش را در همان تراکنشی ذخیره کنید که پیام را پردازش می‌کند',
  '{remember}, which begins with a lock of the order, and answer 2xx to what was handled before':
    '{remember}؛ تراکنش با قفل سفارش شروع شود و به پیام‌های قبلاً پردازش‌شده پاسخ 2xx دهید',
  'compare the delivery, too, when the version is the last one':
    'وقتی نسخه همان نسخهٔ آخر است، شناسهٔ پیام را هم مقایسه کنید',
  'remember versions by source and external_id, and handle the messages of an order one by one':
    'نسخه‌ها را بر اساس source و external_id ذخیره و پیام‌های هر سفارش را یکی‌یکی پردازش کنید',
  'answer 500, or delete neither the message nor those behind it of its order; go on with others':
    'پاسخ 500 دهید، یا آن پیام و پیام‌های بعدی همان سفارش را حذف نکنید؛ با بقیه ادامه دهید',
  'verify X-Service-Signature over the raw body, and its t within {seconds} seconds; answer 401':
    'X-Service-Signature را روی متن خام و t را با {seconds} ثانیه اختلاف بررسی کنید؛ پاسخ 401 دهید',
  'verify the bytes of the body before anything parses it':
    'امضا را روی بایت‌های متن و قبل از parse بررسی کنید',
  'compare every v1 of X-Service-Signature': 'همهٔ v1های X-Service-Signature را مقایسه کنید',
  'answer 2xx and do nothing': 'پاسخ 2xx دهید و کاری نکنید',
  'test the store "{=source}"': 'آزمون فروشگاه «{source}»',
  '{messages} of real orders may wait in {=queue}':
    'ممکن است {messages} از سفارش‌های واقعی در {queue} مانده باشد',
  'let the store consume them first': 'ابتدا اجازه دهید فروشگاه آن‌ها را دریافت کند',
  'a store of {=title} would receive messages about test orders':
    'فروشگاهی از {title} پیام‌هایی دربارهٔ سفارش‌های آزمایشی دریافت می‌کرد',
  'use --local, or pass --test-store if it has no customers':
    'از --local استفاده کنید، یا اگر مشتری ندارد --test-store را اضافه کنید',
  'read the handled messages from "{=place}"': 'خواندن پیام‌های پردازش‌شده از «{place}»',
  'check --handled': 'محل آن را بررسی کنید',
  'The log has ended': 'لاگ تمام شد',
}
