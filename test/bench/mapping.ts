import { compileMapping, type RecordMapper } from '../../src/mapping/compile.ts'
import { directMapping } from '../../src/mapping/direct.ts'
import { WrittenTriple } from '../../src/mapping/triple-text.ts'
import type { DatasetRecord } from '../../src/model/value.ts'
import { definitionOf } from '../../src/publishing/definition.ts'
import { Identities } from '../../src/publishing/identity.ts'
import { openSource } from '../../src/sources/open.ts'
import { fieldOf } from '../../src/sources/typing/fields.ts'
import { typeRecords } from '../../src/sources/typing/typed-records.ts'
import { benchMapped } from './mapped.ts'
import { BASE, root } from './support.ts'
import { atLeast, percentile, type Row } from './table.ts'

const RUNS = 7

/** Mapping alone: records of the cities in memory to pieces of N-Triples, which are thrown away. */
export async function benchMapping(): Promise<readonly Row[]> {
  const { folder, source, fields: specs, identity } = definitionOf(root, 'cities')
  if (specs === null) throw new Error('the cities declare their fields')
  const fields = specs.map(fieldOf)
  const identities = new Identities(fields, identity)
  const records: DatasetRecord[] = []
  const typed = typeRecords(openSource(source, { datasetFolder: folder, portalFolder: root }), specs)
  for await (const batch of typed.batches())
    for (const values of batch.values)
      records.push({ id: identities.idOf(values), position: records.length, values })
  const dataset = { id: 'cities', fields }
  const facts = rates(records, () => compileMapping(directMapping(BASE, dataset), fields).map)
  return [atLeast('mapping: facts', percentile(facts, 0.5), 1_000_000, 'triples/s'), ...(await benchMapped())]
}

function rates(records: readonly DatasetRecord[], mapper: () => RecordMapper): readonly number[] {
  return Array.from({ length: RUNS }, () => {
    const map = mapper()
    const out = new WrittenTriple()
    const begun = performance.now()
    for (const record of records) {
      map(record, out)
      if (out.isFull()) out.take()
    }
    out.take()
    return (out.triples / (performance.now() - begun)) * 1000
  }).slice(1)
}
