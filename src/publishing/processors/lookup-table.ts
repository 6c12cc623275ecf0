import { existsSync } from 'node:fs'
import { nearest } from '../../model/did-you-mean.ts'
import type { Value } from '../../model/value.ts'
import { toText } from '../../sources/typing/convert.ts'
import { openColumns } from '../../store/columns/graph.ts'
import { RecordReader } from '../../store/record-reader.ts'
import { withColumns } from '../versions/graph-sources.ts'
import { currentManifest, graphPath, publishedDatasets, versionsOf } from '../versions/versions.ts'
import { type Processor, type ProcessorStep, stepFault } from './schema.ts'

/** The values that a look-up takes from each record, by the text of its key. */
export type LookupTable = ReadonlyMap<string, readonly Value[]>

/** The remaining memory for the look-ups of one dataset. */
export interface LookupBudget {
  records: number
  characters: number
}

/** The maximum size of all look-ups of a dataset together. */
export function lookupBudget(): LookupBudget {
  return { records: 500_000, characters: 50_000_000 }
}

/**
 * Reads the published version of the dataset that a step looks up; of records with the same key the first counts. Only public
 * datasets can be looked up, because their values become values of another dataset. Throws ConfigInvalid with the position of the
 * step.
 */
export async function readLookupTable(
  processor: Processor,
  { dataset: id, key, take }: Extract<ProcessorStep, { type: 'lookup' }>['settings'],
  portal: string,
  budget: LookupBudget,
): Promise<LookupTable> {
  const versions = versionsOf(portal)
  const publicManifest = (name: string) => {
    const found = currentManifest(versions, name)
    return found?.dataset.visibility === 'public' ? found : null
  }
  const manifest = publicManifest(id)
  if (manifest === null) {
    const known = publishedDatasets(versions).filter(other => publicManifest(other) !== null)
    const near = nearest(id, known)
    throw stepFault(processor, `a public dataset that is published is expected, and ${id} is none`, {
      member: 'dataset',
      ...(near === undefined ? {} : { hint: `Did you mean ${near}?` }),
    })
  }
  const { fields } = manifest.dataset
  const placeOf = (name: string, member: string) => {
    const at = fields.findIndex(field => field.name === name)
    if (at >= 0 && manifest.content === 'records') return at
    const names = fields.map(field => field.name)
    const near = nearest(name, names)
    throw stepFault(processor, `${id} has no field ${JSON.stringify(name)}`, {
      member,
      hint: near === undefined ? `Fields: ${names.slice(0, 20).join(', ')}` : `Did you mean ${near}?`,
    })
  }
  const keyAt = placeOf(key, 'key')
  const taken = Object.keys(take).map(name => placeOf(name, 'take'))
  const facts = manifest.graphs.find(({ role }) => role === 'facts')
  const file = graphPath(versions, manifest, facts?.columns ?? '')
  if (!existsSync(file)) throw stepFault(processor, `the published version of ${id} is not on this machine`)
  const graph = await withColumns(versions, [manifest], () => openColumns(file))
  const reader = new RecordReader(graph, manifest, new Set([key, ...Object.keys(take)]))
  const table = new Map<string, readonly Value[]>()
  for (let position = 0; position < reader.count; position++) {
    const { values } = reader.record(position)
    const found = values[keyAt] ?? null
    const keys = Array.isArray(found) ? (found as readonly string[]) : [toText(found)]
    const selected = taken.map(at => values[at] ?? null)
    for (const one of keys) {
      if (one === null || one === undefined || table.has(one.trim())) continue
      budget.records -= 1
      budget.characters -= one.length + selected.reduce<number>((sum, value) => sum + sizeOf(value), 0)
      if (budget.records < 0 || budget.characters < 0)
        throw stepFault(
          processor,
          'the look-ups of a dataset hold at most 500,000 records and 50,000,000 characters',
        )
      table.set(one.trim(), selected)
    }
  }
  return table
}

function sizeOf(value: Value): number {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : 8
}
