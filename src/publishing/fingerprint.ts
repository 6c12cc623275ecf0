import { createHash } from 'node:crypto'
import type { Definition } from './definition.ts'
import { VERSION_FORMAT } from './versions/versions.ts'

/** Changes where files of RDF are published in another way: since 2 literals keep their lexical forms. */
const RDF_VERSION = 2

/**
 * A digest of what the records of a version are made from beside the source: dataset.yaml, the public address in the
 * IRIs, and the form of the version itself.
 */
export function definitionDigest({ id, text, rdf }: Definition, base: string): string {
  return digestOf(JSON.stringify([VERSION_FORMAT, base, id, text, ...(rdf === null ? [] : [RDF_VERSION])]))
}

/** The digest of everything that a version is made from; equal ones need no new publication. */
export function fingerprintOf(definition: string, source: string, mapping: string | null): string {
  return digestOf(JSON.stringify([definition, source, mapping]))
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
