import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { stringify } from 'yaml'
import { Fault, faultText, SOURCE_UNREADABLE } from '../errors/errors.ts'
import { readableName, unusedId } from '../model/readable-name.ts'
import { isData } from '../publishing/implicit.ts'
import type { ReadingOptions } from './import/options.ts'
import { importTitle, understoodText } from './import/table.ts'
import { importFile } from './import.ts'
import { printError } from './print.ts'

/** A temporary portal folder for files given on the command line. */
export interface GeneratedPortal {
  readonly portal: string
  readonly remove: () => void
}

/** The portal folder if `serve` is called with a single folder that is a portal: it has a portal.yaml, or a data folder; null otherwise. */
export function portalAmong(given: readonly string[]): string | null {
  const [only] = given
  if (only === undefined || given.length > 1 || !isFolder(only)) return null
  return existsSync(path.join(only, 'portal.yaml')) || isFolder(path.join(only, 'data')) ? only : null
}

/**
 * Creates a portal folder for files and the files of folders: each is a dataset with inferred types. Unreadable files are
 * reported on stderr, and the rest is served. Faults: SourceUnreadable if none can be read.
 */
export async function portalOfFiles(
  given: readonly string[],
  options: ReadingOptions,
): Promise<GeneratedPortal> {
  const portal = mkdtempSync(path.join(tmpdir(), 'lodestone-portal-'))
  const remove = () => rmSync(portal, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const addresses = given.filter(isAddress)
    const files = given.filter(it => !isAddress(it)).flatMap(filesOf)
    const ids = new Set<string>()
    for (const address of addresses) ids.add(describeAddress(portal, address, unusedId(pathIn(address), ids)))
    for (const file of files) {
      const id = unusedId(file, ids)
      try {
        const folder = path.join(portal, 'data', id)
        const understood = await importFile(file, {
          folder,
          id,
          portal,
          base: 'http://localhost',
          options,
          copy: linkFile,
        })
        ids.add(id)
        printError(understoodText(path.basename(file), understood))
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        printError(`${file}: not served\n  ${faultText(error).replaceAll('\n', '\n  ')}\n`)
        if (files.length + addresses.length === 1) throw error
      }
    }
    if (ids.size === 0)
      throw new Fault(SOURCE_UNREADABLE, {
        reason: `there is no file of data that can be read in ${given.join(', ')}`,
      })
    const title = path.basename(given[0] ?? '') || 'Lodestone'
    // An address on the command line is trusted, even in a private network.
    const hosts = addresses.map(address => new URL(address).hostname.replace(/^\[|\]$/g, ''))
    writeFileSync(
      path.join(portal, 'portal.yaml'),
      stringify({ title, ...(hosts.length === 0 ? {} : { source_private_hosts: hosts }) }),
    )
    return { portal, remove }
  } catch (error) {
    remove()
    throw error
  }
}

function isAddress(given: string): boolean {
  return /^(?:https?|ftps?):\/\//i.test(given)
}

/** The path of an address in readable form. */
function pathIn(address: string): string {
  return readableName(new URL(address).pathname)
}

/** Creates the folder of a dataset whose data are fetched; returns its id. */
function describeAddress(portal: string, url: string, id: string): string {
  const folder = path.join(portal, 'data', id)
  mkdirSync(folder, { recursive: true })
  const title = importTitle(pathIn(url)) || new URL(url).hostname
  writeFileSync(
    path.join(folder, 'dataset.yaml'),
    stringify({ source: { url }, metas: { default: { title } } }),
  )
  return id
}

function filesOf(given: string): readonly string[] {
  if (!existsSync(given))
    throw new Fault(SOURCE_UNREADABLE, { reason: `${given} was not found` }, { place: { file: given } })
  if (!isFolder(given)) return [given]
  return readdirSync(given, { withFileTypes: true })
    .filter(entry => entry.isFile() && isData(entry.name))
    .map(entry => path.join(given, entry.name))
    .sort()
}

/** A hard link to the file, or a copy if the file systems differ. */
function linkFile(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to, constants.COPYFILE_FICLONE)
  }
}

function isFolder(given: string): boolean {
  return statSync(given, { throwIfNoEntry: false })?.isDirectory() === true
}
