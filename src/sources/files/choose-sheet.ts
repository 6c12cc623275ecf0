import { type GridFormat, gridOf, type OpenedFile, type SourceOptions } from '../open.ts'
import { isFilled } from '../tables/grid.ts'
import { odsSheets } from './ods.ts'
import { spreadsheetmlSheets } from './spreadsheetml.ts'
import type { Sheet } from './workbook.ts'
import { xlsxSheets } from './xlsx.ts'

/** Maximum number of sheets that are searched for a table, and of rows of each. */
const MAX_SHEETS = 20
const MAX_ROWS = 200

/** Maximum number of other sheets listed in a note. */
const MAX_NAMES = 5

/**
 * The sheet of a workbook with the table, if none is given: the first with two rows of at least two cells, else the first with
 * any cell. Cover sheets precede the data, and empty ones may occur in between.
 */
export async function chooseSheet(
  opened: OpenedFile,
  format: GridFormat,
  given: SourceOptions,
): Promise<{ readonly options: SourceOptions; readonly diagnostics: readonly string[] }> {
  const same = { options: given, diagnostics: [] }
  if (given.sheet !== undefined) return same
  const all = await sheetsOf(opened, format)
  const sheets = all.filter(({ isHidden }) => !isHidden)
  if (all.length < 2) return same
  let withCells: Sheet | undefined
  let chosen: Sheet | undefined
  for (const sheet of sheets.slice(0, MAX_SHEETS)) {
    const content = await contentOf(opened, format, { ...given, sheet: sheet.name })
    if (content !== 'nothing') withCells ??= sheet
    if (content !== 'table') continue
    chosen = sheet
    break
  }
  chosen ??= withCells
  if (chosen === undefined) return same
  const others = all
    .filter(it => it !== chosen)
    .map(({ name, isHidden }) => `${JSON.stringify(name)}${isHidden ? ' (hidden)' : ''}`)
  const more = others.length > MAX_NAMES ? ` and ${others.length - MAX_NAMES} more` : ''
  return {
    options: chosen === sheets[0] ? given : { ...given, sheet: chosen.name },
    diagnostics: [
      `the sheet is ${JSON.stringify(chosen.name)}; left out: ${others.slice(0, MAX_NAMES).join(', ')}${more}`,
    ],
  }
}

async function sheetsOf({ data }: OpenedFile, format: GridFormat): Promise<readonly Sheet[]> {
  switch (format) {
    case 'xlsx':
      return xlsxSheets(data)
    case 'ods':
      return odsSheets(data)
    case 'spreadsheetml':
      return spreadsheetmlSheets(data)
    default:
      return []
  }
}

async function contentOf(
  opened: OpenedFile,
  format: GridFormat,
  options: SourceOptions,
): Promise<'table' | 'cells' | 'nothing'> {
  let read = 0
  let wide = 0
  let filled = 0
  for await (const rows of gridOf(opened, format, options).rows())
    for (const { cells } of rows) {
      const count = cells.filter(isFilled).length
      filled += count
      if (count >= 2 && ++wide >= 2) return 'table'
      if (++read >= MAX_ROWS) return filled > 0 ? 'cells' : 'nothing'
    }
  return filled > 0 ? 'cells' : 'nothing'
}
