import path from 'node:path'
import { stringify } from 'yaml'
import { titleFromName } from '../../model/title.ts'
import { checkRdf } from '../../publishing/graphs/rdf-graphs.ts'
import type { FieldSpec } from '../../sources/fields.ts'
import { type Inspection, inspectFormat, inspectSource, lastingOptions } from '../../sources/inspect.ts'
import { formatOf, type SourceFolders, type SourceOptions, type SourceSpec } from '../../sources/open.ts'
import { openRdf, RDF_FORMATS, rdfFormatOf } from '../../sources/rdf.ts'

/** The inferred content of a file: the records of a table or tree, or RDF triples. */
export type Understood =
  | {
      readonly type: 'records'
      readonly inspection: Inspection
      /** Options for dataset.yaml; undefined if there are none. */
      readonly options: SourceOptions | undefined
    }
  | { readonly type: 'rdf'; readonly source: SourceSpec; readonly triples: number }

/** Reads a file completely and infers how it is to be read. Throws SourceUnreadable and ConfigInvalid, with advice. */
export async function understand(
  spec: SourceSpec,
  folders: SourceFolders,
  place: { readonly base: string; readonly dataset: string },
): Promise<Understood> {
  const format = inspectFormat(spec, folders)
  const rdf = RDF_FORMATS.find(it => it === format)
  if (rdf === undefined) {
    const inspection = await inspectSource(spec, folders)
    return { type: 'records', inspection, options: lastingOptions(inspection.source, spec.options) }
  }
  const source = { ...spec, format: rdf }
  return { type: 'rdf', source, triples: await checkRdf(openRdf(source, folders, rdf), place) }
}

/** The text of dataset.yaml for an inferred file: its settings apply until they are edited. */
export function datasetYaml(understood: Understood, title: string): string {
  const source = understood.type === 'rdf' ? understood.source : understood.inspection.source
  const { path: file, package: _, module: __, format } = source
  const options = understood.type === 'rdf' ? source.options : understood.options
  const isPlain =
    file !== undefined && format !== undefined && format === (formatOf(file) ?? rdfFormatOf({ path: file }))
  const document = {
    source: { path: file },
    ...(format === undefined || isPlain ? {} : { format }),
    ...(options === undefined ? {} : { options }),
    ...(understood.type === 'rdf' ? {} : { fields: understood.inspection.fields.map(fieldEntry) }),
    metas: { default: { title, description: '', keyword: [], license: '', publisher: '' } },
    visibility: 'public',
  }
  return stringify(document, { lineWidth: 0 })
}

/** A title from a file name or the last segment of an address. */
export function importTitle(name: string): string {
  return titleFromName(path.basename(name).replace(/\.gz$/i, ''))
}

function fieldEntry(spec: FieldSpec): object {
  return { ...spec }
}
