/** The calendar whose years these are more probably than those of the Gregorian one. */
export function calendarOf(min: number, max: number): string | undefined {
  if (min >= 2440 && max <= 2600) return 'Buddhist'
  return min >= 1340 && max <= 1460 ? 'Persian or Islamic' : undefined
}

/** The question about a calendar, or else the one given. */
export function otherCalendar(
  calendar: string | undefined,
  question?: string,
): { readonly question?: string } {
  if (calendar === undefined) return question === undefined ? {} : { question }
  return {
    question: `the years may be those of the ${calendar} calendar, and were taken for Gregorian ones: where they are, write Gregorian dates, or say type: text`,
  }
}
