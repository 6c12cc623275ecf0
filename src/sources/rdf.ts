import type { RdfFormat } from '../model/rdf-format.ts'
import { type DataFile, openData } from './data-file.ts'
import { isRdfFormat, rdfFormatNamed } from './formats.ts'

export { RDF_FORMATS } from './formats.ts'

import { type SourceFolders, type SourceSpec, sourceFiles } from './open.ts'
import { misconfigured } from './source.ts'

/** An RDF file: it has triples and no records. */
export interface RdfSource {
  /** Name for messages. */
  readonly name: string
  readonly format: RdfFormat
  /** The bytes of the file, decompressed, without a byte order mark. Throws SourceUnreadable. */
  pieces(): AsyncIterable<Buffer>
}

/** The syntax of an RDF source, from its `format` or else its file name; undefined for records. */
export function rdfFormatOf(spec: SourceSpec): RdfFormat | undefined {
  if (spec.format !== undefined) return isRdfFormat(spec.format) ? spec.format : undefined
  return rdfFormatNamed(spec.options?.file ?? spec.path ?? spec.package ?? '')
}

/** Opens an RDF file without reading it yet. Throws as `openSource` does. */
export function openRdf(spec: SourceSpec, from: SourceFolders, format: RdfFormat): RdfSource {
  const name = spec.path ?? spec.package
  if (name === undefined)
    throw misconfigured('RDF is read from a file.', 'Name it with path or package instead of module.')
  const option = Object.keys(spec.options ?? {}).find(it => it !== 'file')
  if (option !== undefined)
    throw misconfigured(
      `The option ${JSON.stringify(option)} means nothing for ${format}.`,
      undefined,
      `options.${option}`,
    )
  const [file = name] = sourceFiles(spec, from)
  return { name, format, pieces: () => readBytes(openData(file, name, spec.options?.file)) }
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff')

async function* readBytes(data: DataFile): AsyncGenerator<Buffer> {
  let first = true
  for await (const piece of data.pieces(2 ** 20)) {
    const marked = first && piece.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    first = false
    yield marked ? piece.subarray(BYTE_ORDER_MARK.length) : piece
  }
}
