import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspectSource } from '../../src/sources/inspect.ts'
import { openSource, type SourceOptions } from '../../src/sources/open.ts'
import { typeRecords } from '../../src/sources/typing/typed-records.ts'

/** A file as it is understood in a folder: fields as `name: type format`, all values, notes and conversion errors. */
export async function understoodIn(
  folder: string,
  name: string,
  content: string | Buffer | null,
  options?: SourceOptions,
) {
  if (content !== null) writeFileSync(join(folder, name), content)
  const folders = { datasetFolder: folder, portalFolder: folder }
  const found = await inspectSource({ path: name, ...(options === undefined ? {} : { options }) }, folders)
  const typed = typeRecords(openSource(found.source, folders), found.fields)
  const values: (readonly unknown[])[] = []
  for await (const batch of typed.batches()) values.push(...batch.values)
  const fields = found.fields.map(
    ({ name, type, format }) => `${name}: ${type}${format === undefined ? '' : ` ${format}`}`,
  )
  return { fields, values, misfits: typed.report().misfitCount, found }
}
