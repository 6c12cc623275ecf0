import { CONFIG_INVALID } from '../../config/faults.ts'
import { Fault, faultText, isFault } from '../../errors/errors.ts'
import { nearest } from '../../model/did-you-mean.ts'
import type { RecordSource, SourceRow } from '../../sources/source.ts'
import { fieldReader } from '../../sources/typing/fields.ts'
import { type LookupTable, lookupBudget, readLookupTable } from './lookup-table.ts'
import { type Processor, stepFault } from './schema.ts'
import { type ChangingRow, type CompiledStep, compileStep } from './steps.ts'

/**
 * A source whose rows are processed by steps, batch by batch. Look-up tables are read here, once. Throws ConfigInvalid with the
 * position in dataset.yaml for an invalid step, also during reading for columns that the source does not have.
 *
 * @param portal folder with the published datasets
 */
export async function processedSource(
  source: RecordSource,
  processors: readonly Processor[],
  portal: string,
): Promise<RecordSource> {
  if (processors.length === 0) return source
  const budget = lookupBudget()
  const faults: Fault[] = []
  const steps: CompiledStep[] = []
  for (const processor of processors) {
    const { step } = processor
    try {
      const table: LookupTable | null =
        step.type === 'lookup' ? await readLookupTable(processor, step.settings, portal, budget) : null
      steps.push(compileStep(processor, table))
    } catch (error) {
      if (!isFault(error, CONFIG_INVALID)) throw error
      faults.push(error)
    }
  }
  throwAll(faults)
  const { columns } = source
  return {
    name: source.name,
    textual: source.textual,
    warnings: () => source.warnings?.() ?? [],
    ...(columns === undefined
      ? {}
      : { columns: async () => columnsAfterAll(steps, await columns.call(source)) }),
    async *read() {
      const running = steps.map(step => new RunningStep(step))
      if (columns !== undefined) {
        const header = await columns.call(source)
        columnsAfterAll(steps, header)
        for (const step of running) step.isHeaderKnown = true
      }
      for await (const rows of source.read()) {
        const results = rows.flatMap(row => processed(row, running))
        if (results.length > 0) yield results
      }
      for (const step of running) step.checkReads()
    },
  }
}

function processed(row: SourceRow, steps: readonly RunningStep[]): readonly SourceRow[] {
  const changing: ChangingRow = { row, data: { ...row.data } }
  return steps.every(step => step.apply(changing)) ? [{ ...row, data: changing.data }] : []
}

function throwAll(faults: readonly Fault[]): void {
  const [first] = faults
  if (first === undefined) return
  if (faults.length === 1) throw first
  throw new Fault(CONFIG_INVALID, { reason: faults.map(faultText).join('\n') }, { place: first.place })
}

/** The names of the columns after all steps. Throws ConfigInvalid if any reads a column that does not exist. */
function columnsAfterAll(steps: readonly CompiledStep[], header: readonly string[]): readonly string[] {
  const faults: Fault[] = []
  let names = header
  for (const step of steps) {
    const known = new Set(names)
    for (const column of step.reads)
      if (!known.has(column) && !column.startsWith('/')) faults.push(missing(step, column, known))
    names = columnsAfter(names, step)
  }
  throwAll(faults)
  return names
}

function columnsAfter(before: readonly string[], step: CompiledStep): readonly string[] {
  const gone = new Set(step.removes.filter(name => !step.writes.includes(name)))
  // A renamed column keeps its position.
  const { step: declared } = step.processor
  const names = declared.type === 'rename' ? new Map(Object.entries(declared.settings)) : null
  if (names !== null) return [...new Set(before.map(name => names.get(name) ?? name))]
  return [...new Set([...before.filter(name => !gone.has(name)), ...step.writes])]
}

function missing({ processor }: CompiledStep, column: string, known: Iterable<string>) {
  const near = nearest(column, known)
  const names = [...known].slice(0, 20).map(name => JSON.stringify(name))
  return stepFault(processor, `there is no column ${JSON.stringify(column)} before this step`, {
    hint: near === undefined ? `Columns: ${names.join(', ')}` : `Did you mean ${JSON.stringify(near)}?`,
  })
}

/** A step during one pass, which finds out whether a source without a header has the columns that it reads. */
class RunningStep {
  isHeaderKnown = false
  private readonly step: CompiledStep
  private rows = 0
  private pending: readonly { readonly column: string; readonly read: ReturnType<typeof fieldReader> }[]
  private readonly known = new Set<string>()

  constructor(step: CompiledStep) {
    this.step = step
    this.pending = step.reads.map(column => ({ column, read: fieldReader(column) }))
  }

  apply(row: ChangingRow): boolean {
    if (!this.isHeaderKnown && this.pending.length > 0) this.look(row)
    return this.step.apply(row)
  }

  private look({ data }: ChangingRow): void {
    this.rows += 1
    if (this.known.size < 1000) for (const name in data) this.known.add(name)
    this.pending = this.pending.filter(({ read }) => read(data) === undefined)
  }

  /** Throws ConfigInvalid for a column that occurred in no row. */
  checkReads(): void {
    const [first] = this.pending
    if (!this.isHeaderKnown && this.rows > 0 && first !== undefined)
      throw missing(this.step, first.column, this.known)
  }
}
