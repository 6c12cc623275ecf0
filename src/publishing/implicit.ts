import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { datasetIdOf } from '../model/readable-name.ts'
import { formatOf } from '../sources/formats.ts'
import { rdfFormatOf } from '../sources/rdf.ts'

/** Pattern of dataset ids: they are part of addresses and folder names. */
export const DATASET_ID = /^[a-z0-9][a-z0-9_-]{0,99}$/

/** A data file without a description. */
export interface ImplicitSource {
  /** Absolute path of its folder. */
  readonly folder: string
  readonly file: string
  /** Other data files of the folder: with any of them it is unknown which one is meant. */
  readonly others: readonly string[]
}

/** A file or folder of data/ that belongs to no dataset. */
export interface IgnoredData {
  /** The id that it would have, or its name if that is no id. */
  readonly dataset: string
  readonly reason: string
}

/**
 * The datasets of a portal without dataset.yaml, by id: each data file in data/, and each folder there with data files. Of two
 * with the same id the first counts, and folders precede files.
 */
export function implicitSources(portal: string): ReadonlyMap<string, ImplicitSource> {
  return readDataFolder(portal).sources
}

/** The data files and folders of a portal that are not published, for a report. */
export function ignoredData(portal: string): readonly IgnoredData[] {
  return readDataFolder(portal).ignored
}

/** Describes a folder with several data files and no dataset.yaml. */
export function severalFilesText({ file, others }: ImplicitSource): string {
  const names = [file, ...others]
  const named = names.slice(0, MAX_NAMES).map(name => JSON.stringify(name))
  // Copies and lock files have longer names.
  const [example] = names.sort((a, b) => a.length - b.length)
  const more = others.length + 1 - named.length
  return `there are ${others.length + 1} files of data (${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}) and no dataset.yaml: leave one of them, or name one in dataset.yaml, source: { path: ${JSON.stringify(example)} }`
}

/** Maximum file names in a message. */
const MAX_NAMES = 5

function readDataFolder(portal: string) {
  const data = path.join(portal, 'data')
  const sources = new Map<string, ImplicitSource>()
  const ignored: IgnoredData[] = []
  /** The name of the file or folder of each dataset. */
  const names = new Map<string, string>()
  const entries = entriesOf(data)
  for (const { name, isDirectory } of entries) {
    if (!isDirectory || name.startsWith('.')) continue
    const folder = path.join(data, name)
    // A draft writes dataset.yaml last: until then nothing says who may see its files.
    const isBegun = existsSync(path.join(portal, 'var', 'drafts', name, 'draft.json'))
    if (isBegun || existsSync(path.join(folder, 'dataset.yaml'))) {
      names.set(name, `data/${name}/`)
      continue
    }
    const all = entriesOf(folder).flatMap(each => (each.isDirectory ? [] : [each.name]))
    const [file, ...others] = all.filter(isData)
    if (file !== undefined && DATASET_ID.test(name)) {
      names.set(name, `data/${name}/`)
      sources.set(name, { folder, file, others })
    } else if (file !== undefined) ignored.push({ dataset: name, reason: notAnId(`data/${name}/`, name) })
    else if (all.some(mayBeData))
      ignored.push({ dataset: name, reason: unreadName(`data/${name}/${all.find(mayBeData)}`) })
  }
  for (const { name, isDirectory } of entries) {
    if (isDirectory) continue
    if (!isData(name)) {
      if (mayBeData(name)) ignored.push({ dataset: name, reason: unreadName(`data/${name}`) })
      continue
    }
    const id = datasetIdOf(name)
    const first = names.get(id)
    if (!DATASET_ID.test(id)) ignored.push({ dataset: name, reason: notAnId(`data/${name}`, '') })
    else if (first !== undefined) ignored.push({ dataset: id, reason: sameId(name, first) })
    else {
      names.set(id, `data/${name}`)
      sources.set(id, { folder: data, file: name, others: [] })
    }
  }
  return { sources, ignored }
}

function notAnId(place: string, name: string): string {
  const suggested = datasetIdOf(name)
  const example = DATASET_ID.test(suggested) ? `, for example ${suggested}` : ''
  return `${place} is ignored, because its name is no dataset id: lower-case letters, digits, - and _, at most 100. Rename it${example}`
}

function sameId(name: string, first: string): string {
  return `data/${name} is ignored, because ${first} has the same id: delete it if its data are there, rename it, or move it into a folder of another name`
}

function unreadName(file: string): string {
  return `${file} is ignored, because its name does not end as those of formats that are read: save its table as .csv, .xlsx, .json or another`
}

/** Hidden files, lock files of office programs, files of Windows, metadata of geographic programs, and files about the others. */
const NOT_DATA =
  /^\.|^~\$|~$|^(?:(?:eh)?thumbs\.db|desktop\.ini)$|\.(?:shp|aux)\.xml$|^(?:readme|licen[cs]e|changelog)\b/i

/** Parts of shapefiles and styles of geographic programs. */
const PARTS = /\.(?:dbf|shx|prj|cpg|sb[nx]|qix|qpj|fix|idx|lyr|qml|sld|qmd)$/i

/** True for the name of a file that somebody may take for data, whether its format is read or not. */
const mayBeData = (name: string) => !NOT_DATA.test(name) && !PARTS.test(name)

/** True for the name of a file that can be the data of a dataset by itself. */
export function isData(name: string): boolean {
  if (NOT_DATA.test(name)) return false
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
