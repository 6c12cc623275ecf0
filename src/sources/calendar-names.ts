/** Languages with known names of months and weekdays. */
const LANGUAGES = ['en', 'fr', 'de', 'es', 'it', 'pt', 'nl'] as const

/** Names of months in dates, and short ones after a bar, of languages whose forms Intl has only in part, or too slowly for all. */
const OTHER_LANGUAGES: readonly string[] = [
  'stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia|sty lut mar kwi maj cze lip sie wrz paź lis gru',
  'ledna února března dubna května června července srpna září října listopadu prosince',
  'января февраля марта апреля мая июня июля августа сентября октября ноября декабря|янв фев мар апр май июн июл авг сен окт ноя дек',
  'січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня',
  'januari februari mars april maj juni juli augusti september oktober november december|jan feb mar apr maj jun jul aug sep okt nov dec',
  'januar februar marts april maj juni juli august september oktober november december|jan feb mar apr mai jun jul aug sep okt nov des',
  'tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta',
  'ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık|oca şub mar nis may haz tem ağu eyl eki kas ara',
  'ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie',
  'ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου',
]

/** Forms that publishers use and that the data of Intl do not have. */
const MORE_MONTHS: readonly (readonly [name: string, month: number])[] = [
  ['sept', 9],
  ['mar', 3],
  ['mär', 3],
  ['jän', 1],
  ['jänner', 1],
  ['fev', 2],
  ['fevr', 2],
  ['fevrier', 2],
  ['avr', 4],
  ['aout', 8],
  ['déc', 12],
  ['dec', 12],
  ['decembre', 12],
  ['set', 9],
  ['mrt', 3],
  ['marco', 3],
]

const { months, long, short, weekdays } = gather()

/** Names of months, short and long, and short ones alone, as parts of a regular expression. */
export const MONTH_FORM = formOf([...long, ...short])
export const SHORT_MONTH_FORM = formOf(short)
/** Names of weekdays as part of a regular expression. */
export const WEEKDAY_FORM = formOf(weekdays)

/** The number of a month from its name, 1 to 12; 0 for an unknown name. */
export function monthNamed(name: string): number {
  return months.get(plain(name)) ?? 0
}

function gather() {
  const months = new Map<string, number>()
  const names = { long: new Set<string>(), short: new Set<string>() }
  const weekdays = new Set<string>()
  const add = (set: Set<string>, name: string, month: number) => {
    if (months.get(plain(name)) !== undefined && months.get(plain(name)) !== month) return
    months.set(plain(name), month)
    set.add(plain(name))
  }
  for (const language of LANGUAGES)
    for (const width of ['long', 'short'] as const) {
      const monthOf = new Intl.DateTimeFormat(language, { month: width, day: 'numeric', timeZone: 'UTC' })
      for (let month = 1; month <= 12; month++)
        for (const { type, value } of monthOf.formatToParts(Date.UTC(2024, month - 1, 1)))
          if (type === 'month') add(names[width], value, month)
      const dayOf = new Intl.DateTimeFormat(language, { weekday: width, timeZone: 'UTC' })
      for (let day = 1; day <= 7; day++) weekdays.add(plain(dayOf.format(Date.UTC(2024, 0, day))))
    }
  for (const language of OTHER_LANGUAGES)
    for (const [width, list] of language.split('|').entries())
      for (const [at, name] of list.split(' ').entries())
        add(names[width === 0 ? 'long' : 'short'], name, at + 1)
  for (const [name, month] of MORE_MONTHS) add(names.short, name, month)
  return { months, long: [...names.long], short: [...names.short], weekdays: [...weekdays] }
}

function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

/** Longer names first, so that no name hides another that begins with it; a period may follow. */
function formOf(names: readonly string[]): string {
  const ordered = [...new Set(names)].sort((a, b) => b.length - a.length)
  return `(?:${ordered.map(name => name.replace(/[.]/g, '\\.')).join('|')})\\.?`
}
