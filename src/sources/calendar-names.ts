/** Languages with known names of months and weekdays. */
const LANGUAGES = ['en', 'fr', 'de', 'es', 'it', 'pt', 'nl'] as const

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
