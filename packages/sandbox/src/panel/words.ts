/** Amounts in words, as printed on invoices. */

const words = (text: string) => text.split(' ')

const ENGLISH = {
  ones: words(
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
  ),
  tens: words('- - twenty thirty forty fifty sixty seventy eighty ninety'),
  scales: words('- thousand million billion trillion quadrillion quintillion'),
}

const PERSIAN = {
  ones: words(
    'صفر یک دو سه چهار پنج شش هفت هشت نه ده یازده دوازده سیزده چهارده پانزده شانزده هفده هجده نوزده',
  ),
  tens: words('- - بیست سی چهل پنجاه شصت هفتاد هشتاد نود'),
  hundreds: words('- یکصد دویست سیصد چهارصد پانصد ششصد هفتصد هشتصد نهصد'),
  scales: words('- هزار میلیون میلیارد تریلیون کوادریلیون کوینتیلیون'),
}

type Language = 'en' | 'fa'

/** The parts of a number from 1 to 999, to be joined. */
const PARTS: Readonly<Record<Language, (number: number) => (string | undefined)[]>> = {
  en: number => {
    const { ones, tens } = ENGLISH
    const [hundreds, rest] = [Math.floor(number / 100), number % 100]
    const unit = rest % 10
    const ten = tens[Math.floor(rest / 10)]
    const below = rest < 20 ? ones[rest] : unit === 0 ? ten : `${ten}-${ones[unit]}`
    return [hundreds > 0 ? `${ones[hundreds]} hundred` : undefined, rest > 0 ? below : undefined]
  },
  fa: number => {
    const { ones, tens, hundreds } = PERSIAN
    const rest = number % 100
    const small = rest < 20 ? rest : rest % 10
    return [
      number >= 100 ? hundreds[Math.floor(number / 100)] : undefined,
      rest >= 20 ? tens[Math.floor(rest / 10)] : undefined,
      small > 0 ? ones[small] : undefined,
    ]
  },
}

const SCALES = { en: ENGLISH.scales, fa: PERSIAN.scales }
const ZERO = { en: ENGLISH.ones[0], fa: PERSIAN.ones[0] }
const BETWEEN = { en: ' ', fa: ' و ' }

/** A whole number in words; undefined if it is negative or exceeds the largest scale. */
export const numberInWords = (digits: string, language: Language): string | undefined => {
  if (!/^\d{1,21}$/.test(digits)) return undefined
  const padded = digits.padStart(21, '0')
  const groups = Array.from({ length: 7 }, (_, index) => Number(padded.slice(index * 3, index * 3 + 3)))
  const named = groups.flatMap((number, index) => {
    if (number === 0) return []
    const scale = 6 - index
    const text = PARTS[language](number).filter(Boolean).join(BETWEEN[language])
    return [scale === 0 ? text : `${text} ${SCALES[language][scale]}`]
  })
  return named.length === 0 ? ZERO[language] : named.join(BETWEEN[language])
}
