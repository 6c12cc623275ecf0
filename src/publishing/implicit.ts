import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { LRUCache } from 'lru-cache'
import { memoised } from '../model/memoised.ts'
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

/** One of {@link implicitSources}; of the folders only its own is read. */
export function implicitSource(portal: string, id: string): ImplicitSource | undefined {
  const { data, folders, filesById } = listingOf(portal)
  const own = folders.includes(id) ? folderSource(portal, id) : null
  if (own?.isTaken === true) return own.source ?? undefined
  const [file] = filesById.get(id) ?? []
  return file === undefined ? undefined : { folder: data, file, others: [] }
}

/** The data files and folders of a portal that are not published, for a report. */
export function ignoredData(portal: string): readonly IgnoredData[] {
  return readDataFolder(portal).ignored
}

/** Why symbolic links in data/ are ignored, by the ids of the datasets that they may have been put in place of. */
export function ignoredLinks(portal: string): ReadonlyMap<string, string> {
  return readDataFolder(portal).linked
}

/**
 * True for a folder of data/ with a dataset.yaml, also where that cannot be known (it may not be entered, or its disk does not
 * answer) and its name may be that of a dataset: lost+found is none.
 */
export function isDescribed(data: string, name: string): boolean {
  try {
    return statSync(path.join(data, name, 'dataset.yaml'), { throwIfNoEntry: false }) !== undefined
  } catch {
    return DATASET_ID.test(name)
  }
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
  const sources = new Map<string, ImplicitSource>()
  const ignored: IgnoredData[] = []
  /** Why links to data are not read, by the ids that they would have. */
  const linked = new Map<string, string>()
  const { data, folders, filesById, unread, links } = newListing(portal)
  /** The folders of data by name: no file is the dataset of that id. */
  const taken = new Set<string>()
  for (const name of folders) {
    const { isTaken, source, unread, link } = folderSource(portal, name)
    if (source !== null && !DATASET_ID.test(name)) {
      ignored.push({ dataset: name, reason: notAnId(`data/${name}/`, name) })
      continue
    }
    if (isTaken) taken.add(name)
    if (source !== null) sources.set(name, source)
    if (unread !== undefined) ignored.push({ dataset: name, reason: unreadName(`data/${name}/${unread}`) })
    if (link === undefined) continue
    const reason = linkedName(`data/${name}/${link}`)
    ignored.push({ dataset: name, reason })
    if (isData(link)) linked.set(name, reason)
  }
  for (const name of links) {
    const reason = linkedName(`data/${name}`)
    ignored.push({ dataset: name, reason })
    linked.set(datasetIdOf(name), reason)
  }
  for (const name of unread) ignored.push({ dataset: name, reason: unreadName(`data/${name}`) })
  for (const [id, [first = '', ...others]] of filesById) {
    if (!DATASET_ID.test(id)) {
      for (const name of [first, ...others])
        ignored.push({ dataset: name, reason: notAnId(`data/${name}`, '') })
      continue
    }
    const isTaken = taken.has(id)
    if (!isTaken) sources.set(id, { folder: data, file: first, others: [] })
    const counted = isTaken ? `data/${id}/` : `data/${first}`
    for (const name of isTaken ? [first, ...others] : others)
      ignored.push({ dataset: id, reason: sameId(name, counted) })
  }
  return { sources, ignored, linked }
}

/** The dataset of a folder, if it is one: without a source where it has a description, else perhaps a file whose format is not read. */
function folderSource(portal: string, name: string) {
  const folder = path.join(portal, 'data', name)
  // A draft writes dataset.yaml last: until then nothing says who may see its files.
  const isBegun = existsSync(path.join(portal, 'var', 'drafts', name, 'draft.json'))
  if (isBegun || isDescribed(path.join(portal, 'data'), name)) return { isTaken: true, source: null }
  const entries = entriesOf(folder)
  const all = entries.flatMap(({ name, kind }) => (kind === 'file' ? [name] : []))
  const link = entries.find(({ name, kind }) => kind === 'link' && mayBeData(name))?.name
  const [file, ...others] = all.filter(isData)
  return file === undefined
    ? { isTaken: false, source: null, unread: all.find(it => mayBeData(it) || isLoneTable(it, all)), link }
    : { isTaken: true, source: { folder, file, others }, link }
}

/** What is in data/: sorted names of its folders, and of its data files by the ids of their datasets. */
interface Listing {
  readonly data: string
  readonly folders: readonly string[]
  readonly filesById: ReadonlyMap<string, readonly string[]>
  /** Files that somebody may take for data, but whose formats are not read. */
  readonly unread: readonly string[]
  /** Symbolic links, which are not followed. */
  readonly links: readonly string[]
}

/** Listings by portal, with the time of the last change of data/. */
const LISTINGS = new LRUCache<string, Listing & { readonly changed: number }>({ max: 8 })

/** Milliseconds for which data/ must be unchanged before its listing is cached, so that a later change has another time. */
const SETTLED = 3000

/** A thousand datasets are read one after the other: they share a listing as long as data/ is not changed. */
function listingOf(portal: string): Listing {
  const known = LISTINGS.get(portal)
  return known !== undefined && known.changed === changeOf(portal) ? known : newListing(portal)
}

function changeOf(portal: string): number {
  return statSync(path.join(portal, 'data'), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function newListing(portal: string): Listing {
  const changed = changeOf(portal)
  const data = path.join(portal, 'data')
  const filesById = new Map<string, string[]>()
  const folders: string[] = []
  const unread: string[] = []
  const links: string[] = []
  const entries = entriesOf(data)
  const names = entries.map(({ name }) => name)
  for (const { name, kind } of entries)
    if (kind === 'folder') {
      if (!name.startsWith('.')) folders.push(name)
    } else if (kind === 'link') {
      if (mayBeData(name)) links.push(name)
    } else if (isData(name)) memoised(filesById, datasetIdOf(name), () => []).push(name)
    else if (mayBeData(name) || isLoneTable(name, names)) unread.push(name)
  const listing = { data, folders, filesById, unread, links, changed }
  if (Date.now() - changed > SETTLED) LISTINGS.set(portal, listing)
  return listing
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

function linkedName(file: string): string {
  return `${file} is ignored, because it is a symbolic link, which may lead anywhere: put the file or folder itself there`
}

/** Hidden files, lock files of office programs, files of Windows, metadata of geographic programs, and files about the others, in languages of Europe. */
const NOT_DATA =
  /^\.|^~\$|~$|^(?:(?:eh)?thumbs\.db|desktop\.ini)$|\.(?:shp|aux)\.xml$|^(?:readme|licen[cs]e|changelog)\b|^(?:liesmich|lisez-?moi|l[eé]eme|leia-?me|leggimi|leesmij)\.txt/iu

/** Parts of shapefiles and styles of geographic programs. */
const PARTS = /\.(?:dbf|shx|prj|cpg|sb[nx]|qix|qpj|fix|idx|lyr|qml|sld|qmd)$/i

/** True for the name of a file that somebody may take for data, whether its format is read or not. */
const mayBeData = (name: string) => !NOT_DATA.test(name) && !PARTS.test(name)

/** True for a table of dBASE that is no part of a shapefile. */
function isLoneTable(name: string, beside: readonly string[]): boolean {
  const stem = /^(.+)\.dbf$/i.exec(name)?.[1]?.toLowerCase()
  return stem !== undefined && !NOT_DATA.test(name) && !beside.some(it => it.toLowerCase() === `${stem}.shp`)
}

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

interface Entry {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'link'
}

function entriesOf(folder: string): readonly Entry[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .flatMap((entry): readonly Entry[] => {
        const { name } = entry
        if (entry.isSymbolicLink()) return [{ name, kind: 'link' }]
        if (entry.isDirectory()) return [{ name, kind: 'folder' }]
        return entry.isFile() ? [{ name, kind: 'file' }] : []
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}
