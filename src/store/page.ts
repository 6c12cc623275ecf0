import type { Term } from '../rdf/term.ts'
import { XSD } from '../rdf/vocab.ts'
import { literalOf, NUMBER_TYPES, numberFormOf } from './columns/evaluate/value.ts'
import type { GraphColumns } from './columns/graph.ts'
import type { WireTable, WireVector } from './columns/threads/protocol.ts'
import type { Solution, SolutionPage } from './store.ts'

function termOfWire(term: Term | string | undefined): Term | null {
  if (typeof term !== 'string') return term ?? null
  return { type: 'literal', value: term, datatype: XSD.string, language: '' }
}

/** Reads the answer of a thread; subjects become terms by the columns of their graph. */
export class TablePage implements SolutionPage {
  readonly rows: number
  readonly total: number
  readonly columns: readonly string[]
  private readonly vectors: ReadonlyMap<string, WireVector>
  private readonly columnsOf: (graph: string) => GraphColumns

  constructor({ rows, total, vectors, columns }: WireTable, columnsOf: (graph: string) => GraphColumns) {
    this.rows = rows
    this.total = total < 0 ? rows : total
    this.columns = columns
    this.vectors = new Map(vectors)
    this.columnsOf = columnsOf
  }

  term(variable: string, row: number): Term | null {
    const vector = this.vectors.get(variable)
    switch (vector?.type) {
      case undefined:
        return null
      case 'terms':
        return termOfWire(vector.terms[vector.places[row] ?? -1])
      case 'subjects': {
        const subject = vector.ids[row] ?? -1
        return subject < 0 ? null : this.columnsOf(vector.graph).subjectTerm(subject)
      }
      case 'numbers': {
        if (vector.bound !== null && vector.bound[row] !== 1) return null
        const { kind } = vector
        const value = vector.values[row] as number
        return literalOf(numberFormOf({ type: 'number', kind, value }), NUMBER_TYPES[kind])
      }
      default:
        return vector satisfies never
    }
  }

  subject(variable: string, row: number): number {
    const vector = this.vectors.get(variable)
    return vector?.type === 'subjects' ? (vector.ids[row] ?? -1) : -1
  }

  /** All rows as solutions. */
  solutions(): readonly Solution[] {
    const names = [...this.vectors.keys()]
    return Array.from({ length: this.rows }, (_, row) => {
      const bound = names.flatMap(name => {
        const term = this.term(name, row)
        return term === null ? [] : [[name, term] as const]
      })
      return Object.fromEntries(bound)
    })
  }
}
