import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { formatOf } from '../sources/formats.ts'
import { rdfFormatOf } from '../sources/rdf.ts'

/** Pattern of dataset ids: they are part of addresses and folder names. */
export const DATASET_ID = /^[a-z0-9][a-z0-9_-]{0,99}$/

/** A data file without a description. */
export interface ImplicitSource {
  /** Absolute path of its folder. */
  readonly folder: string
  /** Its file name. */
  readonly file: string
}

/** A dataset id derived from a file name; an empty text if no character of the name is usable. */
export function datasetIdOf(name: string): string {
  return path
    .basename(name)
    .replace(/\..*$/, '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^[-_]+|-+$/g, '')
    .slice(0, 100)
}

/**
 * The datasets of a portal without dataset.yaml, by id: each data file in data/, and each folder there with one data file. Of two
 * with the same id the first counts, and folders precede files.
 */
export function implicitSources(portal: string): ReadonlyMap<string, ImplicitSource> {
  const data = path.join(portal, 'data')
  const found = new Map<string, ImplicitSource>()
  const entries = entriesOf(data)
  for (const entry of entries) {
    if (!entry.isDirectory || !DATASET_ID.test(entry.name)) continue
    const folder = path.join(data, entry.name)
    const files = entriesOf(folder)
    if (files.some(({ name }) => name === 'dataset.yaml')) continue
    const candidates = files.filter(file => !file.isDirectory && isData(file.name))
    const [only] = candidates
    if (only !== undefined && candidates.length === 1) found.set(entry.name, { folder, file: only.name })
  }
  const folders = new Set(entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => name))
  for (const { name, isDirectory } of entries) {
    if (isDirectory || !isData(name)) continue
    const id = datasetIdOf(name)
    if (DATASET_ID.test(id) && !folders.has(id) && !found.has(id)) found.set(id, { folder: data, file: name })
  }
  return found
}

/** True for the name of a file that can be the data of a dataset by itself. */
export function isData(name: string): boolean {
  if (name.startsWith('.') || /^(?:readme|licen[cs]e|changelog)\b/i.test(name)) return false
  const plain = name.replace(/\.gz$/i, '')
  return (
    formatOf(plain) !== undefined ||
    rdfFormatOf({ path: plain }) !== undefined ||
    /\.(?:zip|kmz)$/i.test(plain)
  )
}

function entriesOf(folder: string): readonly { readonly name: string; readonly isDirectory: boolean }[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .map(entry => ({ name: entry.name, isDirectory: isFolder(entry, folder), isFile: entry.isFile() }))
      .filter(({ isDirectory, isFile }) => isDirectory || isFile)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}

function isFolder(entry: { isDirectory(): boolean; readonly name: string }, folder: string): boolean {
  return (
    entry.isDirectory() && statSync(path.join(folder, entry.name), { throwIfNoEntry: false }) !== undefined
  )
}
