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
import type { AddressInfo } from 'node:net'
import { constants as osConstants, tmpdir } from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { stringify } from 'yaml'
import type { Service } from '../app/service.ts'
import { CONFIG_INVALID, usageFault } from '../config/faults.ts'
import { Fault, faultText, SOURCE_UNREADABLE } from '../errors/errors.ts'
import { readableName, unusedId } from '../model/readable-name.ts'
import { isData } from '../publishing/implicit.ts'
import { tuneEngine } from '../runtime/engine-flags.ts'
import { openFilesLimit, RESERVED_FILES } from '../runtime/open-files.ts'
import { importFile, importTitle, type ReadingOptions, understoodText, withReadingOptions } from './import.ts'
import { configOf, type PortalOptions, servedOptions } from './options.ts'
import { printError, printText } from './print.ts'
import { createProgress } from './progress.ts'

/** `lodestone serve`: publishes what changed, then serves. */
export function serveCommand(): Command {
  const command = new Command('serve')
    .description(
      'publish what changed, then serve the portal; or serve files with inferred types, without a portal',
    )
    .argument(
      '[sources...]',
      'files, folders or addresses to serve in place of a portal, or the folder of one',
    )
  return withReadingOptions(servedOptions(command, 'port to listen on (default: 3000)')).action(
    async (sources: string[], options: PortalOptions & ReadingOptions) => {
      let begun: Service | null = null
      // Before the folder for files is made, which is removed where the process exits.
      endOnSignals(() => begun)
      const config = configOf({ ...options, ...(await portalFor(sources, options)) })
      refuseFewFiles()
      tuneEngine()
      // The whole service, which other commands do not load.
      const { serve } = await import('../main.ts')
      const service = await serve(config, await createProgress(process.stderr)).catch(error => {
        throw listenFault(error)
      })
      begun = service
      await service.served.catch(async error => {
        await service.end()
        throw error
      })
      const address = service.http.server.address()
      if (address === null || service.health.readiness() === 'stopping') return
      const port = config.port === 0 ? ` (port ${(address as AddressInfo).port})` : ''
      printText(`${config.title} is served at ${config.base}${port}\n`)
    },
  )
}

/** Refuses to start if there are too few file descriptors: the resulting failures would be hard to diagnose. */
function refuseFewFiles(): void {
  const files = openFilesLimit()
  if (files !== null && files < RESERVED_FILES)
    throw new Fault(CONFIG_INVALID, {
      reason: `this process may have ${files} files and connections open at once, and ${RESERVED_FILES} are needed at least: raise the limit (ulimit -n, LimitNOFILE of systemd)`,
    })
}

/** The portal folder for the arguments: a portal, or one that is created for files; nothing without arguments. */
async function portalFor(
  sources: readonly string[],
  options: PortalOptions & ReadingOptions,
): Promise<Pick<PortalOptions, 'portal'>> {
  if (sources.length === 0) return {}
  if (options.portal !== undefined)
    throw usageFault('files are served without a portal: leave out --portal, or import them into it')
  const portal = portalAmong(sources)
  if (portal !== null) return { portal }
  return { portal: await portalOfFiles(sources, options) }
}

/**
 * The first signal shuts the service down gracefully with exit code 0, a later one ends the process immediately. What comes within
 * 200 milliseconds is the same signal again: npx and timeout pass on what the process group got already. Before the service
 * accepts requests there is nothing to finish: versions published by then are complete.
 */
function endOnSignals(service: () => Service | null): void {
  let endingSince: number | null = null
  const end = (signal: NodeJS.Signals) => {
    if (endingSince !== null) {
      if (performance.now() - endingSince > 200) process.exit(128 + osConstants.signals[signal])
      return
    }
    endingSince = performance.now()
    const begun = service()
    if (begun === null) process.exit(0)
    begun.end().then(
      isWhole => {
        if (!isWhole) printError('answers that took longer than shutdown_timeout were cut off\n')
        process.exit(0)
      },
      error => {
        printError(`lodestone: ${String((error as Error).stack ?? error)}\n`)
        process.exit(1)
      },
    )
  }
  process.on('SIGINT', end).on('SIGTERM', end).on('SIGHUP', end)
}

/** Where a server was to listen. */
interface ListenPlace {
  readonly port: number
  readonly address: string
  readonly hostname: string
}

function listenFault(error: unknown): unknown {
  const { code, port, address, hostname } = error as NodeJS.ErrnoException & Partial<ListenPlace>
  switch (code) {
    case 'EADDRINUSE':
      return new Fault(CONFIG_INVALID, {
        reason: `port ${port} is taken: choose another with --port (or admin_port for that of operators)`,
      })
    case 'EACCES':
      // Or a file that may not be read.
      if (port === undefined) return error
      return new Fault(CONFIG_INVALID, { reason: `port ${port} may not be used: choose one above 1023` })
    case 'EADDRNOTAVAIL':
      return new Fault(CONFIG_INVALID, {
        reason: `${address} is no address of this machine: see host and admin_host`,
      })
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Fault(CONFIG_INVALID, {
        reason: `${hostname} is no address, and no name of one (IPv6 without brackets): see host and admin_host`,
      })
    default:
      return error
  }
}

/** The portal folder if `serve` is called with a single folder that is a portal: it has a portal.yaml, or a data folder; null otherwise. */
function portalAmong(given: readonly string[]): string | null {
  const [only] = given
  if (only === undefined || given.length > 1 || !isFolder(only)) return null
  return existsSync(path.join(only, 'portal.yaml')) || isFolder(path.join(only, 'data')) ? only : null
}

/**
 * Creates a portal folder, until the process ends, for files and the files of folders: each is a dataset with inferred types. Unreadable files are
 * reported on stderr, and the rest is served. Faults: SourceUnreadable if none can be read.
 */
async function portalOfFiles(given: readonly string[], options: ReadingOptions): Promise<string> {
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
        if (!(error instanceof Fault) || files.length + addresses.length === 1) throw error
        printError(`${file}: not served\n  ${faultText(error).replaceAll('\n', '\n  ')}\n`)
      }
    }
    if (ids.size === 0)
      throw new Fault(SOURCE_UNREADABLE, {
        reason: `there is no file of data that can be read in ${given.join(', ')}`,
      })
    const title = path.basename(path.resolve(given[0] ?? '')) || 'Lodestone'
    // An address on the command line is trusted, even in a private network.
    const hosts = addresses.map(address => new URL(address).hostname.replace(/^\[|\]$/g, ''))
    writeFileSync(
      path.join(portal, 'portal.yaml'),
      stringify({ title, ...(hosts.length === 0 ? {} : { source_private_hosts: hosts }) }),
    )
    return portal
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
