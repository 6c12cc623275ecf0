import { basename } from 'node:path'
import { RECORD_ID } from '../../mapping/columns.ts'
import { type CompiledMapping, compileMapping, type RuleReport } from '../../mapping/compile.ts'
import { type Diagnostic, hasErrors } from '../../mapping/diagnostic.ts'
import type { Mapping, MappingPlace, ResourceRule } from '../../mapping/ir.ts'
import { invalidValues } from '../../mapping/report.ts'
import { WrittenTriple } from '../../mapping/triple-text.ts'
import type { DatasetRecord } from '../../model/value.ts'
import { LineSet } from '../../rdf/line-set.ts'
import { rulesText } from '../mapping/rules.ts'
import { counted } from '../print.ts'
import { mapReferences, withBase } from './findings.ts'
import { groupRules, NOWHERE } from './inputs.ts'
import { type Nulls, openMapRecords, type ReadingRules, type RecordFile } from './records.ts'

/** A mapping that is ready to run over its files. */
export interface Plan {
  readonly runs: readonly Run[]
  /** True if some triples are in named graphs. */
  readonly hasGraphs: boolean
  /** True if a value that cannot become a term is an error (RML-Core, "Data errors"). */
  readonly dataErrors: boolean
}

interface Run {
  readonly file: string
  readonly records: RecordFile
  readonly compiled: CompiledMapping
  /** Prefix of the record ids, so that those of a rule over several files are distinct. */
  readonly idPrefix: string
}

/** Base for relative IRIs of RML if neither the mapping nor its user defines one. */
export const DEFAULT_BASE = 'http://example.com/'

/**
 * Finds the files of a mapping, opens them and compiles the rules of each. Returns diagnostics if that is not possible. Throws
 * SourceUnreadable for an unreadable file and MappingInvalid for rules that cannot be compiled.
 *
 * @param base base for relative IRIs if the mapping has none
 */
export async function planMapping(
  mapping: Mapping,
  kind: 'yarrrml' | 'rml',
  files: readonly string[],
  base: string | undefined,
): Promise<{ readonly plan: Plan | null; readonly diagnostics: readonly Diagnostic[] }> {
  const generation = kind === 'rml' ? (mapping.generation ?? 'new') : null
  const reading: ReadingRules = {
    textOnly: generation === 'old',
    scalarsOnly: generation === 'new',
    strictNames: generation !== null,
    reserved: kind === 'yarrrml' ? RECORD_ID : null,
  }
  const { groups, diagnostics } = groupRules(mapping, files, kind)
  const found = [...diagnostics]
  const runs: Run[] = []
  if (!hasErrors(found))
    for (const [index, { input, rules }] of groups.entries()) {
      const records = await openMapRecords(input, mapReferences(rules), reading, iterator =>
        iteratorPlace(rules, iterator),
      )
      if (!('records' in records)) {
        found.push(...records)
        continue
      }
      const resources = base === undefined ? rules : rules.map(rule => withBase(rule, base))
      const compiled = compileMapping({ ...mapping, resources }, records.columns, { canonical: false })
      const isRepeated = groups.slice(0, index).some(group => group.rules.some(rule => rules.includes(rule)))
      runs.push({
        file: input.file,
        records,
        compiled,
        idPrefix: isRepeated ? `${index + 1}_` : '',
      })
    }
  if (hasErrors(found)) return { plan: null, diagnostics: found }
  const hasGraphs = runs.some(({ compiled }) => compiled.hasGraphs)
  return { plan: { runs, hasGraphs, dataErrors: generation === 'new' }, diagnostics: found }
}

function iteratorPlace(rules: readonly ResourceRule[], iterator: string): MappingPlace {
  const source = rules.flatMap(({ sources = [] }) => sources).find(one => one.iterator === iterator)
  return source?.iteratorPlace ?? rules[0]?.place ?? NOWHERE
}

/** Bytes of a piece: it is created and written while it is in the processor's cache. */
const PIECE_BYTES = 2 ** 20

/**
 * Runs a plan: yields lines of N-Triples, or N-Quads, in pieces, each line once, and returns the result of each input. A piece
 * must be used before the one after the next is requested.
 */
export async function* runPlan(
  { runs }: Plan,
  describe: (report: InputReport) => void,
): AsyncGenerator<Buffer> {
  const out = new WrittenTriple(PIECE_BYTES)
  const lines = new DistinctLines()
  for (const run of runs) {
    const before = lines.count
    const count = { records: 0 }
    yield* lines.of(runOne(run, out, count))
    const { file, records, compiled } = run
    const { iterator, nulls } = records
    describe({
      file,
      iterator,
      nulls,
      records: count.records,
      triples: lines.count - before,
      rules: compiled.report,
    })
  }
}

/** Runs the rules of one input. */
async function* runOne(
  { records, compiled, idPrefix }: Run,
  out: WrittenTriple,
  count: { records: number },
): AsyncGenerator<Buffer> {
  for await (const batch of records.records())
    for (const values of batch) {
      const position = count.records++
      const record: DatasetRecord = { id: idPrefix + String(position + 1), position, values }
      compiled.map(record, out)
      if (out.isFull()) yield out.borrowBuffer()
    }
  yield out.borrowBuffer()
}

/** The diagnostics of the files of a plan after it was run. */
export function findingsOf({ runs }: Plan): readonly Diagnostic[] {
  return runs.flatMap(({ records }) => records.findings())
}

/** Number of texts that could not become a term. */
export function countDataErrors(reports: readonly InputReport[]): number {
  let count = 0
  for (const { rules } of reports) for (const rule of rules) count += invalidValues(rule)
  return count
}

const NEWLINE = 0x0a

/** Removes duplicate lines of N-Triples or N-Quads: RDF is a set, and several records may state the same. */
class DistinctLines {
  /** Number of distinct lines so far. */
  count = 0
  private readonly written = new LineSet()

  /** The pieces without lines that occurred before, and the return value of the generator of the pieces. */
  async *of<T>(pieces: AsyncGenerator<Buffer, T>): AsyncGenerator<Buffer, T> {
    try {
      for (;;) {
        const next = await pieces.next()
        if (next.done === true) return next.value
        // Empty pieces are yielded too: the writer of pieces relies on their order.
        yield this.keepNew(next.value)
      }
    } finally {
      await pieces.return(undefined as never)
    }
  }

  /** Moves the new lines of a piece to its front and returns that part of it. */
  private keepNew(piece: Buffer): Buffer {
    let length = 0
    // Start of the current run of lines to be moved together.
    let run = 0
    const move = (to: number) => {
      if (length < run) piece.copyWithin(length, run, to)
      length += to - run
    }
    for (let from = 0; from < piece.length; ) {
      const end = piece.indexOf(NEWLINE, from)
      const to = end < 0 ? piece.length : end + 1
      if (this.written.addBytes(piece, from, to)) this.count += 1
      else {
        move(from)
        run = to
      }
      from = to
    }
    move(piece.length)
    return piece.subarray(0, length)
  }
}

/** The result of one input. */
export interface InputReport {
  readonly file: string
  readonly iterator: string | null
  readonly nulls: Nulls
  readonly records: number
  /** Distinct triples that no previous input created. */
  readonly triples: number
  readonly rules: readonly RuleReport[]
}

/** The report of `lodestone map` about a run. */
export interface MapReport {
  readonly mapping: string
  /** Prefixes that the mapping declares and that are valid in Turtle. */
  readonly prefixes: Readonly<Record<string, string>>
  readonly diagnostics: readonly Diagnostic[]
  readonly inputs: readonly InputReport[]
  /** Distinct triples. */
  readonly triples: number
  /** Texts that could not become a term, if that is an error according to the rules of the mapping's language. */
  readonly dataErrors: number
}

/** Formats the report for a terminal: inputs, then every rule with what it created and what it left out. */
export function reportText({ inputs, triples, dataErrors, prefixes }: MapReport): string {
  const lines: string[] = []
  for (const { file, iterator, nulls, records, triples: written, rules } of inputs) {
    const where = iterator === null ? basename(file) : `${basename(file)} at ${iterator}`
    const absent = nulls === null ? '' : `; ${absentText(nulls)}`
    lines.push(`${where}: ${counted(records, 'record')}, ${counted(written, 'distinct triple')}${absent}`)
    lines.push(rulesText(rules, prefixes).trimEnd())
  }
  const error = dataErrors === 0 ? '' : `, and ${counted(dataErrors, 'data error')}`
  return `${[...lines, `${counted(triples, 'distinct triple')} in all${error}`].join('\n')}\n`
}

/** Describes the cells that count as absent. */
function absentText(nulls: NonNullable<Nulls>): string {
  if (nulls === 'unquoted-empty') return 'empty cells are no values, "" is an empty text'
  const named = nulls.filter(text => text !== '').map(text => JSON.stringify(text))
  if (nulls.includes('')) return `${['empty cells', ...named].join(' and ')} are no values`
  return named.length === 0
    ? 'all cells are values'
    : `${named.join(' and ')} is no value, an empty cell is one`
}
