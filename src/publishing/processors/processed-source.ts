import { nearest } from '../../model/did-you-mean.ts'
import { fieldReader } from '../../sources/fields.ts'
import type { RecordSource, SourceRow } from '../../sources/source.ts'
import { type LookupTable, lookupBudget, readLookupTable } from './lookup-table.ts'
import type { Processor } from './schema.ts'
import { stepFault } from './step-fault.ts'
import { type ChangingRow, type CompiledStep, compileStep } from './steps.ts'

/**
 * A source whose rows are processed by steps, batch by batch. Look-up tables are read here, once. Throws ConfigInvalid with the
 * position in dataset.yaml for an invalid step, also during reading for columns that the source does not have.
 *
 * @param portal folder with the published datasets
 */
export function processedSource(
  source: RecordSource,
  processors: readonly Processor[],
  portal: string,
): RecordSource {
  if (processors.length === 0) return source
  const budget = lookupBudget()
  const steps = processors.map(processor => {
    const { step } = processor
    const table: LookupTable | null =
      step.type === 'lookup' ? readLookupTable(processor, step.settings, portal, budget) : null
    return compileStep(processor, table)
  })
  const { columns } = source
  return {
    name: source.name,
    textual: source.textual,
    ...(columns === undefined
      ? {}
      : { columns: async () => steps.reduce(columnsAfter, await columns.call(source)) }),
    async *read() {
      const running = steps.map(step => new RunningStep(step))
      if (columns !== undefined) {
        const header = await columns.call(source)
        steps.reduce(columnsAfter, header)
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

/** The names of the columns after a step. Throws ConfigInvalid if the step reads a column that does not exist. */
function columnsAfter(before: readonly string[], step: CompiledStep): readonly string[] {
  const known = new Set(before)
  for (const column of step.reads)
    if (!known.has(column) && !column.startsWith('/')) throw missing(step, column, known)
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
