import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { sourceFiles } from '../sources/open.ts'
import type { Definition } from './definition.ts'
import { VERSION_FORMAT } from './versions/versions.ts'

/** Milliseconds within which a file may be modified twice without a change of its modification time. */
const CLOCK_STEP = 2000

/** File metadata of the file system: while they are unchanged, so is the content. */
type FileMark = readonly [file: string, size: number, modified: number, changed: number, inode: number]

/** A cached digest, and the files that it was computed from. */
interface KnownDigest {
  readonly files: readonly FileMark[]
  readonly digest: string
}

/**
 * A digest of the content of the source. Files are read only if their metadata have changed since they were read last.
 *
 * @param known file that caches the digest; it may be lost
 */
export async function sourceDigest(
  { source, sourceFolder }: Definition,
  portal: string,
  known: string,
): Promise<string> {
  const files = sourceFiles(source, { datasetFolder: sourceFolder, portalFolder: portal })
  const before = Date.now()
  const states = files.map(markOf)
  const found = readKnown(known)
  if (found !== null && JSON.stringify(found.files) === JSON.stringify(states)) return found.digest
  const digest = createHash('sha256')
  for (const file of files) {
    digest.update(`\n${file.slice(file.lastIndexOf('/') + 1)}\n`)
    for await (const piece of createReadStream(file, { highWaterMark: 2 ** 20 }))
      digest.update(piece as Buffer)
  }
  const hash = digest.digest('hex')
  if (states.every(([, , modified, changed]) => Math.max(modified, changed) < before - CLOCK_STEP))
    keep(known, { files: states, digest: hash })
  return hash
}

/** The files that the digest of a source was computed from, according to its cache; none if that was lost. */
export function filesOfDigest(known: string): readonly string[] {
  return readKnown(known)?.files.map(([file]) => file) ?? []
}

/** Bytes of the files of a source; 0 if they cannot be found. */
export function sourceSize({ source, sourceFolder }: Definition, portal: string): number {
  try {
    const files = sourceFiles(source, { datasetFolder: sourceFolder, portalFolder: portal })
    return files.reduce((sum, file) => sum + statSync(file).size, 0)
  } catch {
    return 0
  }
}

function markOf(file: string): FileMark {
  const { size, mtimeMs, ctimeMs, ino } = statSync(file)
  return [path.resolve(file), size, mtimeMs, ctimeMs, ino]
}

function readKnown(file: string): KnownDigest | null {
  try {
    const known = JSON.parse(readFileSync(file, 'utf8')) as Partial<KnownDigest>
    return Array.isArray(known.files) && typeof known.digest === 'string' ? (known as KnownDigest) : null
  } catch {
    return null
  }
}

function keep(file: string, known: KnownDigest): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, JSON.stringify(known))
  } catch {
    // The folder is not writable: the source is read again next time.
  }
}

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
