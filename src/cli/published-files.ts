import path from 'node:path'
import { countLines, damageOf } from '../publishing/versions/damage.ts'
import {
  currentVersion,
  type Manifest,
  readManifestFile,
  VERSION_FORMAT,
  type Versions,
  versionFolder,
} from '../publishing/versions/versions.ts'

/** The result of checking the published version of a dataset. */
export interface CheckedVersion {
  readonly version: string
  readonly records: number
  readonly triples: number
  /** False for a version of another format, which this program publishes again. */
  readonly isServed: boolean
  /** What is wrong with it; null for nothing. */
  readonly problem: string | null
}

/** Reads all files of the version in force of a dataset and counts their triples; null if there is no version. */
export async function checkPublished(versions: Versions, id: string): Promise<CheckedVersion | null> {
  const version = currentVersion(versions, id)
  if (version === null) return null
  const folder = versionFolder(versions, id, version)
  const unreadable = { version, records: 0, triples: 0, isServed: false }
  let manifest: Manifest
  try {
    manifest = readManifestFile(versions, id, version)
  } catch (error) {
    return {
      ...unreadable,
      problem: `${path.join(folder, 'manifest.json')} cannot be read: ${reasonOf(error)}`,
    }
  }
  const found = {
    version,
    records: manifest.statistics.records,
    triples: 0,
    isServed: manifest.format === VERSION_FORMAT,
  }
  for (const { file, triples: expected } of manifest.graphs) {
    const name = path.join(folder, file)
    try {
      const lines = await countLines(name)
      found.triples += lines
      if (lines !== expected)
        return { ...found, problem: `${name} has ${lines} triples, ${expected} are expected` }
    } catch (error) {
      return { ...found, problem: `${name} cannot be read: ${reasonOf(error)}` }
    }
  }
  const damage = await damageOf(versions, manifest).catch(error => ({ reason: reasonOf(error) }))
  return { ...found, problem: damage === null ? null : `${folder}: ${damage.reason}` }
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
