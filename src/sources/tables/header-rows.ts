import { filledWidth, type GridCell, type GridRow, gridText, isFilled } from '../typing/grid-cells.ts'
import { typedColumns } from '../typing/value-types.ts'

/** Words and signs that fill a cell of a row of units where the column has none. */
const NO_UNIT = /^(?:[-–—.*/]+|n\/?a|none|text|string|name|id|code)$/i
/** A text in brackets; a number or position in these is no unit, but a negative amount or a place. */
const BRACKETED = /^(?:\[1\]|[([{](?!\s*[-+\u2212]?\s*\p{Sc}?\s*[.,]?\d).*[)\]}])$/u
const BRACKETS = /^[([{].*[)\]}]$/
/** Units of numbers: those of SI with prefixes and exponents, currencies, counts and what offices count in. */
const SIGN =
  '(?:%|‰|°[CF]?|[º]C|[€$£¥]|[TGMkhdcmµμnp]?(?:m|g|s|l|L|A|V|W|Wh|J|N|Hz|Pa|Pas|K|B|b|S|Bq|Sv|eq|t|a|bar|mol|cd|lx|lm|cal|VA|var|ha|ar)|psu|ppm|ppb|dB(?:A|\\(A\\))?|NTU|FTU|pH|rad|°?deg|h|hr|min|sec|d|yr|mi|ft|in|nmi|kn|kt|mph|mbar|gal|lb|oz|EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|CZK|HUF|JPY|CNY|inh|hab|EW|Ew|Einw|Mio|Mrd|Tsd)\\.?(?:\\^?-?\\d|[²³⁻¹])*'
const WORD =
  "(?:deg(?:ree)?s?[ _]?(?:north|south|east|west|true|c|f|celsius|fahrenheit|n|e)?|celsius|kelvin|percent(?:age)?|prozent|pourcent|count|counts|number|anzahl|nombre|número|numero|numbers?|units?|persons?|people|inhabitants|einwohner|personen|habitants|habitantes|met(?:er|re)s?|meters?|kilometers?|seconds?|minutes?|hours?|days?|months?|years?|jahre|millions?|thousands?|tausend|milliers|euros?|dollars?|utc|gmt|local|date|datetime|iso ?8601|index|ratio|score|boolean|integer|float|y{2,4}[-./]?mm?(?:[-./]?dd?)?|dd?[-./]mm?[-./]y{2,4}|hh:mm(?::ss)?|1(?:[ .,']?000)+|10(?:\\^|\\*\\*)?\\d|1 ?000)"
const UNIT = new RegExp(
  `^(?:in |en |je |per |pro )?(?:${SIGN}|(?:1 ?)?${WORD})(?:(?: ?[/·*×.]| per | pro | je | )\\s?(?:${SIGN}|${WORD}))*$`,
  'u',
)
const UNIT_WORDS = new RegExp(`^(?:in |en )?${WORD}(?:(?: ?[/·*×]| per | pro | je | )${WORD})*$`, 'iu')

/** Maximum characters of a unit. */
const MAX_UNIT = 40

/**
 * The units of columns, if the first row with values below a header has these and is no record: all its cells are units or empty,
 * and stand above numbers, days and the like in columns that have names. Null otherwise.
 */
export function unitsBelow(
  names: readonly GridCell[],
  rows: readonly GridRow[],
): { readonly index: number; readonly units: ReadonlyMap<number, string> } | null {
  const index = rows.findIndex(({ cells }) => cells.some(isFilled))
  const cells = rows[index]?.cells ?? []
  const texts = cells.map(cell => gridText(cell).trim())
  if (cells.some(cell => isFilled(cell) && typeof cell !== 'string')) return null
  const found = texts.map(text => (text === '' || NO_UNIT.test(text) ? null : unitOf(text)))
  if (found.includes(undefined)) return null
  const below = rows.slice(index + 1).filter(row => row.cells.some(isFilled))
  const typed = new Set(below.length < 2 ? [] : typedColumns(below))
  const units = new Map<number, string>()
  for (const [column, unit] of found.entries()) {
    if (unit === null || unit === undefined) continue
    if (!isFilled(names[column])) return null
    if (typed.has(column)) units.set(column, unit)
  }
  return units.size === 0 ? null : { index, units }
}

/** A unit without its brackets; undefined for another text. */
function unitOf(text: string): string | undefined {
  if (text.length > MAX_UNIT) return undefined
  const bare = BRACKETS.test(text) ? text.slice(1, -1).trim() : text
  return bare !== '' && (BRACKETED.test(text) || UNIT.test(bare) || UNIT_WORDS.test(bare)) ? bare : undefined
}

/**
 * The names of the columns: where the row above the header has names that extend over several columns, they come before those of the
 * header, and a column without a name has that above it.
 */
export function headerNames(
  head: readonly GridCell[],
  above: readonly GridCell[],
  width: number,
): readonly string[] {
  const groups = groupsOf(head, above)
  return Array.from({ length: width }, (_, at) => {
    const name = gridText(isFilled(head[at]) ? head[at] : above[at])
    const group = groups[at] ?? ''
    return group === '' || !isFilled(head[at]) ? name : `${group} ${name.trim()}`
  })
}

/** The name above each column, if the row above has groups of columns and is no title: an empty list otherwise. */
function groupsOf(head: readonly GridCell[], above: readonly GridCell[]): readonly string[] {
  const width = filledWidth(head)
  const groups: string[] = []
  let hasSpan = false
  for (let at = 0; at < width; at++) {
    const isOwn = isFilled(above[at])
    const isPart = !isOwn && isFilled(head[at]) && groups[at - 1] !== undefined && groups[at - 1] !== ''
    groups.push(isOwn ? gridText(above[at]).trim() : isPart ? (groups[at - 1] as string) : '')
    if (isPart && isFilled(head[at - 1])) hasSpan = true
  }
  const names = head.slice(0, width).filter(isFilled).map(gridText)
  const isNameless = above.some((cell, at) => at < width && isFilled(cell) && !isFilled(head[at]))
  const isRepeated = new Set(names).size < names.length
  const isIndented = !isFilled(above[0]) && isFilled(head[0])
  return hasSpan && (isNameless || isRepeated || isIndented) ? groups : []
}

/**
 * The first column of a second table beside the first: it follows a column that is empty in the header and in all rows, has a name,
 * and there is a column with a name before. Undefined if there is none.
 */
export function tableBeside(head: readonly GridCell[], rows: readonly GridRow[]): number | undefined {
  const width = filledWidth(head)
  const isEmpty = (at: number) => !isFilled(head[at]) && rows.every(({ cells }) => !isFilled(cells[at]))
  for (let at = 2; at < width; at++)
    if (isFilled(head[at]) && isEmpty(at - 1) && head.slice(0, at - 1).some(isFilled)) return at
  return undefined
}
