import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import type { Config } from '../../config/config.ts'
import { usageFault } from '../../config/faults.ts'
import { DEFAULTS } from '../../config/schema.ts'
import { Fault, faultText, SOURCE_UNREADABLE } from '../../errors/errors.ts'
import {
  type Diagnostic,
  diagnosticText,
  hasErrors,
  MAPPING_INVALID,
  withoutRepeats,
} from '../../mapping/diagnostic.ts'
import { portalPrefixes, readMapping } from '../../mapping/read.ts'
import { DATASET_ID, definedDatasets } from '../../publishing/definition.ts'
import {
  checkMapping,
  ignoredMappingText,
  MAPPING_ENDINGS,
  mappingFile,
} from '../../publishing/mapping/mapping-file.ts'
import { suggestedDataset } from '../../publishing/suggested-dataset.ts'
import { BASE_OPTION, JSON_OPTION, PORTAL_OPTION, type PortalOptions, servedConfigOf } from '../options.ts'
import { counted, printError, printJson, printText } from '../print.ts'
import { datasetAtHand } from './dataset.ts'

interface CheckOptions extends PortalOptions {
  readonly dataset?: string
}

/** The findings about one mapping. */
interface Checked {
  /** Path in reports; null if there is no mapping. */
  readonly file: string | null
  readonly dataset: string | null
  readonly diagnostics: readonly Diagnostic[]
  /** Why it could not be checked, or is not used. */
  readonly problem?: string
  /** True if the problem is a failure. */
  readonly failed?: boolean
}

/** `lodestone mapping check`: errors and warnings of mappings, with file, line and column. */
export function mappingCheckCommand(): Command {
  return new Command('check')
    .description('report errors of mappings, with file, line, column and remedy')
    .argument('[names...]', 'ids of datasets, or files of mappings (default: all mappings of the portal)')
    .option('--dataset <id>', 'check a file against the fields of this dataset')
    .option(...PORTAL_OPTION)
    .option(...BASE_OPTION)
    .option(...JSON_OPTION)
    .action(async (names: string[], options: CheckOptions) => {
      const { portal, base } = placeOf(names, options)
      const checked: Checked[] = []
      for (const name of names.length > 0 ? names : mappedNames(portal))
        checked.push(inOrder(await checkOne(name, options.dataset ?? null, portal, base)))
      if (options.json === true) printJson(checked.flatMap(findings))
      else printText(checked.map(checkedText).join(''))
      if (checked.length === 0) printError(`no mappings in ${shownPath(path.join(portal, 'mappings'))}\n`)
      if (checked.some(({ diagnostics, failed }) => failed === true || hasErrors(diagnostics)))
        process.exitCode = 1
    })
}

/** The portal, and its base address; the current folder where files are checked that need no portal. */
function placeOf(names: readonly string[], options: CheckOptions): Pick<Config, 'portal' | 'base'> {
  const needsPortal =
    options.portal !== undefined ||
    options.dataset !== undefined ||
    process.env.LODESTONE_PORTAL !== undefined ||
    names.length === 0 ||
    !names.every(isFileName) ||
    existsSync('portal.yaml')
  return needsPortal
    ? servedConfigOf(options)
    : { portal: '.', base: options.base ?? `http://localhost:${DEFAULTS.port}` }
}

/** Diagnostics in document order. */
function inOrder(checked: Checked): Checked {
  const diagnostics = [...checked.diagnostics].sort(
    (a, b) => a.place.line - b.place.line || a.place.column - b.place.column,
  )
  return { ...checked, diagnostics }
}

/** The datasets with a mapping, and mappings that belong to no dataset. */
function mappedNames(portal: string): readonly string[] {
  const datasets = definedDatasets(portal).filter(id => mappingFile(portal, id) !== null)
  const folder = path.join(portal, 'mappings')
  const used = new Set(datasets.map(id => mappingFile(portal, id)?.file))
  const others = existsSync(folder)
    ? readdirSync(folder)
        .filter(name => MAPPING_ENDINGS.some(ending => name.endsWith(ending)))
        .map(name => path.join(folder, name))
        .filter(file => !used.has(file))
    : []
  return [...datasets, ...others.sort()]
}

async function checkOne(
  name: string,
  against: string | null,
  portal: string,
  base: string,
): Promise<Checked> {
  if (isFileName(name)) {
    const text = mappingFileText(name)
    const dataset = against ?? datasetOfFile(name, portal)
    if (dataset !== null) return checkAgainst(name, dataset, portal, base)
    const own = path.dirname(path.resolve(name)) === path.resolve(portal, 'mappings')
    const { diagnostics } = readMapping(text, name, {
      prefixes: portalPrefixes(base, stem(name)),
    })
    const used = mappingFile(portal, stem(name))?.file
    const problem =
      used === undefined || path.resolve(used) === path.resolve(name)
        ? `there is no dataset ${stem(name)}: nothing uses this mapping`
        : ignoredMappingText(name, shownPath(used))
    return {
      file: shownPath(name),
      dataset,
      diagnostics: withoutRepeats(diagnostics),
      ...(own ? { problem } : {}),
    }
  }
  const found = mappingFile(portal, name)
  if (found !== null) return checkAgainst(found.file, name, portal, base)
  const known = definedDatasets(portal)
  if (!known.includes(name)) {
    const reason = `There is no dataset ${name}, and no file of this name. ${suggestedDataset(name, known)}`
    throw usageFault(reason.trimEnd())
  }
  const problem = `no mapping of its own (mappings/${name}.yml): the direct mapping is used`
  return { file: null, dataset: name, diagnostics: [], problem }
}

async function checkAgainst(file: string, dataset: string, portal: string, base: string): Promise<Checked> {
  const text = mappingFileText(file)
  try {
    const { fields, statistics } = await datasetAtHand(portal, base, dataset)
    const { diagnostics } = checkMapping({ file, text }, { id: dataset, base, fields, statistics })
    return { file: shownPath(file), dataset, diagnostics }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { file: shownPath(file), dataset, diagnostics: [], problem: faultText(error), failed: true }
  }
}

/** The dataset of a file in the portal's mappings; null if it is another file. */
function datasetOfFile(file: string, portal: string): string | null {
  const id = stem(file)
  if (!DATASET_ID.test(id) || !definedDatasets(portal).includes(id)) return null
  const used = mappingFile(portal, id)
  return used !== null && path.resolve(used.file) === path.resolve(file) ? id : null
}

function isFileName(name: string): boolean {
  return !DATASET_ID.test(name)
}

function stem(file: string): string {
  const name = path.basename(file)
  const ending = MAPPING_ENDINGS.find(each => name.endsWith(each)) ?? path.extname(name)
  return name.slice(0, name.length - ending.length)
}

/** A path relative to the current folder if it is below that; otherwise unchanged. */
export function shownPath(file: string): string {
  const relative = path.relative(process.cwd(), file)
  return relative.startsWith('..') ? file : relative
}

function findings({ file, dataset, diagnostics, problem, failed }: Checked): readonly object[] {
  const own = diagnostics.map(diagnostic => ({ file, dataset, ...diagnostic }))
  if (problem === undefined) return own
  return [...own, { file, dataset, severity: failed === true ? 'error' : 'info', message: problem }]
}

function checkedText({ file, dataset, diagnostics, problem, failed }: Checked): string {
  const name = file ?? dataset ?? ''
  const lines = diagnostics.map(diagnostic => `${diagnosticText(name, diagnostic)}\n`)
  if (problem !== undefined) lines.push(`${name}: ${failed === true ? 'error: ' : ''}${problem}\n`)
  if (failed === true || file === null) return lines.join('')
  return `${lines.join('')}${name}: ${countsText(diagnostics)}\n`
}

function countsText(diagnostics: readonly Diagnostic[]): string {
  const count = (required: string) => diagnostics.filter(({ severity }) => severity === required).length
  const described = [
    counted(count('error'), 'error'),
    counted(count('warning'), 'warning'),
    ...(count('info') > 0 ? [counted(count('info'), 'note')] : []),
  ]
  return described.join(', ')
}

/** Maximum bytes of a mapping file; the readers have a lower limit of their own. */
const MAX_MAPPING = 2 ** 22

/**
 * The text of a mapping file. Throws SourceUnreadable for a file that is missing, a folder or not readable, MappingInvalid for one
 * that is too large or UTF-16.
 */
export function mappingFileText(file: string): string {
  const bytes = bytesOf(file)
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (isUtf16)
    throw invalid(
      file,
      'The mapping is written in UTF-16, mappings are read as UTF-8: save it in that encoding.',
    )
  return bytes.toString('utf8')
}

function bytesOf(file: string): Buffer {
  try {
    const { size } = statSync(file)
    if (size > MAX_MAPPING) throw invalid(file, `A file of ${size} bytes is no mapping.`)
    return readFileSync(file)
  } catch (error) {
    if (error instanceof Fault) throw error
    const code = (error as NodeJS.ErrnoException).code
    const why =
      code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a folder' : String(code)
    throw new Fault(SOURCE_UNREADABLE, { reason: `The mapping cannot be read: ${why}.` }, { place: { file } })
  }
}

function invalid(file: string, reason: string): Fault {
  return new Fault(MAPPING_INVALID, { reason }, { place: { file } })
}
