import { createHash } from 'node:crypto'
import type { Definition } from './definition.ts'
import { VERSION_FORMAT } from './versions/versions.ts'

/** Increased when RDF files are published differently: since 2 literals keep their lexical forms. */
const RDF_VERSION = 2

/**
 * A digest of what determines the records of a version in addition to the source: dataset.yaml, the public address in the IRIs,
 * and the version format itself.
 */
export function definitionDigest({ id, text, rdf }: Definition, base: string): string {
  return digestOf(JSON.stringify([VERSION_FORMAT, base, id, text, ...(rdf === null ? [] : [RDF_VERSION])]))
}

/** The digest of all inputs of a version; equal ones need no new publication. */
export function fingerprintOf(definition: string, source: string, mapping: string | null): string {
  return digestOf(JSON.stringify([definition, source, mapping]))
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
