import { MAX_EXPANSION } from './expand.ts'
import type { RuleReport } from './report.ts'

/** Characters of the triples of one record after which no more of its subjects are written, if it has several. */
const MAX_RECORD_TEXT = 2 ** 24

/**
 * Writes the statements of a record that has several subjects. Several subjects and several objects multiply: a statement that
 * has written {@link MAX_EXPANSION} triples of the record, or as many as it has subjects if these are more, is omitted for the
 * other subjects. Omissions are counted in its report, once a record.
 *
 * @param own the report of the subject
 * @param reports the reports of the statements
 * @param write writes a statement for a subject, counts its triples and returns their length in characters
 */
export function writeForSubjects(
  subjects: readonly string[],
  own: RuleReport,
  reports: readonly RuleReport[],
  write: (statement: number, subject: string) => number,
): void {
  const limit = Math.max(MAX_EXPANSION, subjects.length)
  const before = reports.map(({ made, cut }) => ({ made, cut }))
  const ownCut = own.cut
  const isCut = reports.map(() => false)
  let length = 0
  for (const subject of subjects) {
    if (length > MAX_RECORD_TEXT) {
      own.cut = ownCut + 1
      break
    }
    own.made += 1
    for (const [index, report] of reports.entries())
      if (report.made - (before[index]?.made ?? 0) >= limit) isCut[index] = true
      else length += write(index, subject)
  }
  for (const [index, report] of reports.entries()) {
    const cut = before[index]?.cut ?? 0
    if (isCut[index] === true || report.cut > cut) report.cut = cut + 1
  }
}
