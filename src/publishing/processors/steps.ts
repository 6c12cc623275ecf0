import { Fault } from '../../errors/errors.ts'
import type { FieldOrigin } from '../../model/dataset.ts'
import { setMember } from '../../model/lookup.ts'
import { isTimeZone } from '../../model/time.ts'
import type { SourceRow } from '../../sources/source.ts'
import { converterOf } from '../../sources/typing/convert.ts'
import { type FieldSpec, fieldReader, type RowData } from '../../sources/typing/fields.ts'
import { compileRegex } from '../../store/columns/evaluate/functions/regex.ts'
import { compileCondition, compileValue } from './expression.ts'
import { plainOf, processorText } from './expression-functions.ts'
import type { LookupTable } from './lookup-table.ts'
import { type Processor, type ProcessorStep, stepFault } from './schema.ts'

/** A row that steps change: a copy of the row of the source. */
export interface ChangingRow {
  readonly row: SourceRow
  readonly data: Record<string, unknown>
}

/** A compiled step. */
export interface CompiledStep {
  readonly processor: Processor
  /** Columns and pointers that it reads. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly removes: readonly string[]
  /** How each column that it writes is made, for the description of fields; null for one that is renamed. */
  readonly notes: readonly (string | null)[]
  /** Changes a row; returns false to drop it. */
  readonly apply: (row: ChangingRow) => boolean
}

/** Maximum length of a text that a step creates, and of one that a regular expression reads, in characters. */
const MAX_TEXT = 1_000_000

type SettingsOf<Type extends ProcessorStep['type']> = Extract<ProcessorStep, { type: Type }>['settings']

/**
 * Compiles a step. Throws ConfigInvalid with its position in dataset.yaml for an invalid step.
 *
 * @param table the table of a look-up; null for other steps
 */
export function compileStep(processor: Processor, table: LookupTable | null): CompiledStep {
  const { step } = processor
  switch (step.type) {
    case 'rename':
      return renameStep(processor, step.settings)
    case 'split': {
      const { column, separator, into } = step.settings
      const notes = into.map((_, at) => `split at ${JSON.stringify(separator)}, part ${at + 1}`)
      return textStep(processor, [column], into, notes, ([text]) =>
        partsOf(text ?? null, separator, into.length),
      )
    }
    case 'join': {
      const { columns, separator = ' ', into } = step.settings
      return textStep(processor, columns, [into], [`join with ${JSON.stringify(separator)}`], texts => {
        const present = texts.filter(text => text !== null && text !== '')
        return [present.length === 0 ? null : present.join(separator)]
      })
    }
    case 'replace':
      return replaceStep(processor, step.settings)
    case 'date':
      return dateStep(processor, step.settings)
    case 'lookup': {
      const { column, dataset, key, take } = step.settings
      const into = Object.values(take)
      const notes = Object.keys(take).map(from => `lookup ${dataset}.${from} by ${key}`)
      return textStep(processor, [column], into, notes, ([text]) => {
        const found = text == null ? undefined : table?.get(text.trim())
        return into.map((_, at) => found?.[at] ?? null)
      })
    }
    case 'filter': {
      const { evaluate, columns } = compiled(processor, step.settings, compileCondition)
      const apply = ({ data }: ChangingRow) => evaluate(data)
      return { processor, reads: columns, writes: [], removes: [], notes: [], apply }
    }
    case 'compute': {
      const { expression, into } = step.settings
      const { evaluate, columns } = compiled(processor, expression, compileValue, 'expression')
      const apply = ({ data }: ChangingRow) => {
        setMember(data, into, evaluate(data))
        return true
      }
      const notes = [`compute ${expression}`]
      return { processor, reads: columns, writes: [into], removes: [], notes, apply }
    }
  }
}

/** Compiles an expression; its faults get their position in dataset.yaml. */
function compiled<T>(
  processor: Processor,
  text: string,
  compile: (text: string, readerOf: typeof fieldReader) => T,
  member?: string,
): T {
  try {
    return compile(text, fieldReader)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { from } = error.place
    const where = from === undefined ? '' : ` at character ${from + 1} of the expression`
    const reason = `${String(error.parts.reason ?? error.message)}${where}`
    throw stepFault(processor, reason, { ...(member === undefined ? {} : { member }), cause: error })
  }
}

function renameStep(processor: Processor, names: SettingsOf<'rename'>): CompiledStep {
  const pairs = Object.entries(names).map(([from, to]) => ({ from, to, read: fieldReader(from) }))
  const removes = pairs.flatMap(({ from, to }) => (from === to ? [] : [from]))
  const writes = pairs.map(({ to }) => to)
  const twice = writes.find((name, at) => writes.indexOf(name) !== at)
  if (twice !== undefined) throw stepFault(processor, `two columns become ${JSON.stringify(twice)}`)
  const apply = ({ data }: ChangingRow) => {
    const values = pairs.map(({ read }) => read(data))
    for (const name of removes) Reflect.deleteProperty(data, name)
    for (const [at, name] of writes.entries()) if (values[at] !== undefined) setMember(data, name, values[at])
    return true
  }
  return { processor, reads: Object.keys(names), writes, removes, notes: writes.map(() => null), apply }
}

/** A step that computes values from the texts of columns. */
function textStep(
  processor: Processor,
  columns: readonly string[],
  writes: readonly string[],
  notes: readonly string[],
  make: (texts: readonly (string | null)[], row: SourceRow) => readonly unknown[],
): CompiledStep {
  const read = columns.map(fieldReader)
  const apply = ({ row, data }: ChangingRow) => {
    const texts = read.map(each => processorText(plainOf(each(data))))
    for (const [at, value] of make(texts, row).entries()) {
      if (typeof value === 'string' && value.length > MAX_TEXT) throw tooLong(processor, row)
      setMember(data, writes[at] as string, value)
    }
    return true
  }
  return { processor, reads: columns, writes, removes: [], notes, apply }
}

function tooLong(processor: Processor, { row, line }: SourceRow): Fault {
  const where = line === undefined ? `row ${row}` : `row ${row} (line ${line})`
  return stepFault(processor, `${where}: a text of at most ${MAX_TEXT} characters is expected`)
}

/** The parts of a text, trimmed; the last one contains the rest. */
function partsOf(text: string | null, separator: string, count: number): readonly (string | null)[] {
  if (text === null) return Array.from({ length: count }, () => null)
  const parts: (string | null)[] = []
  let rest: string | null = text
  while (parts.length < count) {
    const at: number = rest === null || parts.length === count - 1 ? -1 : rest.indexOf(separator)
    const part: string | null = at < 0 ? rest : (rest as string).slice(0, at)
    parts.push(part === null || part.trim() === '' ? null : part.trim())
    rest = at < 0 ? null : (rest as string).slice(at + separator.length)
  }
  return parts
}

function replaceStep(processor: Processor, settings: SettingsOf<'replace'>): CompiledStep {
  const { column, pattern, with: replacement, flags = '', into = column } = settings
  const regex = compileRegex(pattern, flags, 're2')
  if (regex === null)
    throw stepFault(processor, `${JSON.stringify(pattern)} is no regular expression that can be used`, {
      member: 'pattern',
      hint: 'Expected: an expression of RE2, without look-around and back-references.',
    })
  if (regex.replace('', replacement) === null)
    throw stepFault(
      processor,
      'the pattern matches the empty text, or the replacement is none ($1 for a group, \\$ for the character)',
      { member: 'pattern' },
    )
  const note = `replace /${pattern}/ by ${JSON.stringify(replacement)}`
  return textStep(processor, [column], [into], [note], ([text], row) => {
    if (text == null) return [null]
    if (text.length > MAX_TEXT) throw tooLong(processor, row)
    const replaced = regex.replace(text, replacement)
    if (replaced === null) throw tooLong(processor, row)
    return [replaced]
  })
}

/** The first matching format parses the date; a text without a matching format is unchanged, and reported when the field is typed. */
function dateStep(processor: Processor, settings: SettingsOf<'date'>): CompiledStep {
  const { column, formats, type = 'date', timezone = 'UTC', into = column } = settings
  if (!isTimeZone(timezone))
    throw stepFault(processor, `${JSON.stringify(timezone)} is no time zone: one of IANA is expected`, {
      member: 'timezone',
    })
  const converters = formats.map(format => {
    try {
      return converterOf(type, format === 'iso' ? undefined : format, timezone)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      throw stepFault(processor, error.message, { member: 'formats', cause: error })
    }
  })
  const read = fieldReader(column)
  const apply = ({ data }: ChangingRow) => {
    const raw = plainOf((read as (data: RowData) => unknown)(data))
    let value: unknown = raw
    for (const convert of converters) {
      const date = convert(raw)
      if (date === undefined) continue
      value = date
      break
    }
    setMember(data, into, value)
    return true
  }
  const notes = [`date ${formats.join(', ')}`]
  return { processor, reads: [column], writes: [into], removes: [], notes, apply }
}

/** The origin of a column: columns of the source, and the steps that computed it from them. */
interface ColumnOrigin {
  readonly columns: readonly string[]
  readonly steps: readonly string[]
}

/** Maximum number of columns and of steps in the description of a field. */
const MAX_DESCRIBED = 20

/** The origins of the fields of a dataset with steps; empty for one without. */
export function originsOf(
  processors: readonly Processor[],
  specs: readonly FieldSpec[],
): readonly FieldOrigin[] {
  if (processors.length === 0) return []
  const known = new Map<string, ColumnOrigin>()
  for (const processor of processors) {
    const { reads, writes, notes } = compileStep(processor, null)
    const made = writes.map((into, at): [string, ColumnOrigin] => {
      const note = notes[at] ?? null
      const { columns, steps } = merged(known, note === null ? reads.slice(at, at + 1) : reads)
      return [into, { columns, steps: note === null ? steps : [...steps, note] }]
    })
    for (const [into, origin] of made) known.set(into, origin)
  }
  return specs.map(({ name, from = name }) => {
    const { columns, steps } = merged(known, typeof from === 'string' ? [from] : from)
    return {
      field: name,
      columns: columns.slice(0, MAX_DESCRIBED),
      steps: steps.slice(0, MAX_DESCRIBED),
    }
  })
}

function merged(known: ReadonlyMap<string, ColumnOrigin>, columns: readonly string[]): ColumnOrigin {
  const origins = columns.map(column => known.get(column) ?? { columns: [column], steps: [] })
  return {
    columns: [...new Set(origins.flatMap(origin => origin.columns))],
    steps: [...new Set(origins.flatMap(origin => origin.steps))],
  }
}
