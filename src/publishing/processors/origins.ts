import type { FieldOrigin } from '../../model/dataset.ts'
import type { FieldSpec } from '../../sources/typing/fields.ts'
import { fieldReader } from '../../sources/typing/fields.ts'
import { compileValue } from './expression.ts'
import type { Processor, ProcessorStep } from './schema.ts'

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
  for (const { step } of processors) describeStep(step, known)
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

function describeStep(step: ProcessorStep, known: Map<string, ColumnOrigin>): void {
  const originEntry = (reads: readonly string[], into: string, description: string) => {
    const before = merged(known, reads)
    return [into, { columns: before.columns, steps: [...before.steps, description] }] as const
  }
  for (const [into, origin] of originsAfter(step, originEntry, known)) known.set(into, origin)
}

function originsAfter(
  step: ProcessorStep,
  originEntry: (
    reads: readonly string[],
    into: string,
    description: string,
  ) => readonly [string, ColumnOrigin],
  known: ReadonlyMap<string, ColumnOrigin>,
): readonly (readonly [string, ColumnOrigin])[] {
  switch (step.type) {
    case 'rename':
      return Object.entries(step.settings).map(([from, to]) => [to, merged(known, [from])] as const)
    case 'split': {
      const { column, separator, into } = step.settings
      return into.map((name, at) =>
        originEntry([column], name, `split at ${JSON.stringify(separator)}, part ${at + 1}`),
      )
    }
    case 'join': {
      const { columns, separator = ' ', into } = step.settings
      return [originEntry(columns, into, `join with ${JSON.stringify(separator)}`)]
    }
    case 'replace': {
      const { column, pattern, with: replacement, into = column } = step.settings
      return [originEntry([column], into, `replace /${pattern}/ by ${JSON.stringify(replacement)}`)]
    }
    case 'date': {
      const { column, formats, into = column } = step.settings
      return [originEntry([column], into, `date ${formats.join(', ')}`)]
    }
    case 'lookup': {
      const { column, dataset, key, take } = step.settings
      return Object.entries(take).map(([from, into]) =>
        originEntry([column], into, `lookup ${dataset}.${from} by ${key}`),
      )
    }
    case 'filter':
      return []
    case 'compute': {
      const { expression, into } = step.settings
      return [originEntry(compileValue(expression, fieldReader).columns, into, `compute ${expression}`)]
    }
  }
}
