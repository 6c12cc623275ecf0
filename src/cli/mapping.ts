import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { usageFault } from '../config/faults.ts'
import { Fault } from '../errors/errors.ts'
import type { RuleReport } from '../mapping/compile.ts'
import { type Diagnostic, diagnosticText, MAPPING_INVALID } from '../mapping/diagnostic.ts'
import { directMapping, directMappingText } from '../mapping/direct.ts'
import type { Mapping } from '../mapping/ir.ts'
import { writeRml } from '../mapping/rml/write.ts'
import { checkMapping, mappingFile, proposedMapping } from '../publishing/mapping/mapping-file.ts'
import { mapRecords, prefixesOf, prettyText } from '../publishing/mapping/mapping-preview.ts'
import { mappingCheckCommand, mappingFileText, shownPath } from './mapping/check.ts'
import { type DatasetAtHand, datasetAtHand } from './mapping/dataset.ts'
import { rulesText } from './mapping/rules.ts'
import { overFile } from './mapping/source-file.ts'
import {
  BASE_OPTION,
  commandGroup,
  JSON_OPTION,
  PORTAL_OPTION,
  type PortalOptions,
  servedConfigOf,
} from './options.ts'
import { counted, printDocument, printError, printJson, printText } from './print.ts'

/** `lodestone mapping`: checks, previews, creates and exports the mappings of datasets. */
export function mappingCommand(): Command {
  return commandGroup('mapping', 'check, preview, begin and export the mappings of datasets', [
    mappingCheckCommand(),
    mappingPreviewCommand(),
    mappingInitCommand(),
    mappingExportCommand(),
  ])
}

interface InitOptions extends PortalOptions {
  readonly force?: boolean
  readonly stdout?: boolean
}

/** `lodestone mapping init`: generates a first mapping of a dataset from its fields, to be edited. */
function mappingInitCommand(): Command {
  return new Command('init')
    .description('write a first mapping of a dataset from its fields, ready to edit')
    .argument('<dataset>', 'id of the dataset')
    .option('--force', 'take the place of a mapping that is there')
    .option('--stdout', 'print the mapping and write nothing')
    .option(...PORTAL_OPTION)
    .option(...BASE_OPTION)
    .action(async (id: string, options: InitOptions) => {
      const { portal, base } = servedConfigOf(options)
      const file = path.join(portal, 'mappings', `${id}.yml`)
      const before = mappingFile(portal, id)?.file ?? (existsSync(file) ? file : null)
      if (before !== null && options.force !== true && options.stdout !== true)
        throw usageFault(
          `${before} exists already; --force takes its place, --stdout prints what would be written.`,
        )
      const { fields, statistics, definition } = await datasetAtHand(portal, base, id)
      const text = proposedMapping(definition, fields, statistics)
      if (options.stdout === true) {
        printDocument(text)
        return
      }
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, text)
      printText(
        `${file}: ${counted(fields.length, 'field')}; see lodestone mapping check ${id}, lodestone mapping preview ${id}\n`,
      )
      if (before !== null && before !== file)
        printError(`${before} is not used any more: the file that ends in .yml comes before it\n`)
    })
}

const EXPORT_FORMATS = ['rml', 'yarrrml'] as const

interface ExportOptions extends PortalOptions {
  readonly format: (typeof EXPORT_FORMATS)[number]
  readonly new?: boolean
  readonly out?: string
}

/** `lodestone mapping export`: a dataset's mapping for other engines. */
function mappingExportCommand(): Command {
  return new Command('export')
    .description('write the mapping of a dataset as RML, for other engines to run')
    .argument('<dataset>', 'id of the dataset')
    .addOption(
      new Option('--format <name>', 'language of the mapping').choices(EXPORT_FORMATS).default('rml'),
    )
    .option('--new', 'RML in the vocabulary of 2024 instead of that which all engines read')
    .option('--out <file>', 'write into this file (default: standard output)')
    .option(...PORTAL_OPTION)
    .option(...BASE_OPTION)
    .action(async (id: string, options: ExportOptions) => {
      const { portal, base } = servedConfigOf(options)
      const dataset = await datasetAtHand(portal, base, id)
      const text =
        options.format === 'rml'
          ? await rmlText(dataset, portal, options.new !== true)
          : yarrrmlText(dataset, portal)
      if (options.out === undefined) printDocument(text)
      else writeTo(options.out, text)
    })
}

function yarrrmlText(dataset: DatasetAtHand, portal: string): string {
  const found = mappingFile(portal, dataset.id)
  if (found === null) return directMappingText(dataset)
  if (!/\.ya?ml$/.test(found.file)) throw usageFault(`${found.file} is RML; it is not written as YARRRML.`)
  return readFileSync(found.file, 'utf8')
}

/** The mapping as RML over a file that other engines can read: the dataset's own, else its JSON export. */
async function rmlText(dataset: DatasetAtHand, portal: string, old: boolean): Promise<string> {
  const { id, base, fields, statistics } = dataset
  const found = mappingFile(portal, id)
  const { mapping, diagnostics } =
    found === null
      ? { mapping: directMapping(base, dataset), diagnostics: [] }
      : checkMapping(found, { id, base, fields, statistics })
  if (mapping === null)
    throw new Fault(MAPPING_INVALID, {
      reason: diagnostics
        .filter(({ severity }) => severity === 'error')
        .map(each => diagnosticText(found?.file ?? id, each))
        .join('\n'),
    })
  const written = await overFile(mapping, dataset, old)
  for (const left of written.leftOut) printError(`left out: ${left}\n`)
  const text = writeRml(written.mapping, {
    columns: written.columns,
    vocabulary: old ? 'r2rml-era' : 'rml',
  })
  printError(`${written.description}\n`)
  return `# ${written.description}\n${written.leftOut.map(left => `# Left out: ${left}\n`).join('')}${text}`
}

interface PreviewOptions extends PortalOptions {
  readonly records: number
  readonly mapping?: string
}

/** The result of mapping some records. */
interface Preview {
  readonly dataset: string
  /** The mapping's file; null for the direct mapping. */
  readonly file: string | null
  readonly records: number
  readonly triples: number
  readonly turtle: string
  readonly rules: readonly RuleReport[]
  readonly diagnostics: readonly Diagnostic[]
}

function writeTo(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (cause) {
    const reason = `${file} cannot be written: ${(cause as NodeJS.ErrnoException).code}`
    throw usageFault(reason, cause)
  }
}

/** `lodestone mapping preview`: the triples of some records, and the result of each rule. */
function mappingPreviewCommand(): Command {
  return new Command('preview')
    .description(
      'show the triples that a mapping makes of some records, and for each rule what it left out and why',
    )
    .argument('<dataset>', 'id of the dataset')
    .option('--records <n>', 'number of records', countArgument, 5)
    .option('--mapping <file>', 'a mapping in place of the one that the dataset has')
    .option(...PORTAL_OPTION)
    .option(...BASE_OPTION)
    .option(...JSON_OPTION)
    .action(async (id: string, options: PreviewOptions) => {
      const { portal, base } = servedConfigOf(options)
      const dataset = await datasetAtHand(portal, base, id)
      const { file, mapping, diagnostics } = readOrDirect(dataset, portal, options.mapping)
      if (mapping === null) {
        if (options.json === true) printText(`${JSON.stringify({ dataset: id, file, diagnostics })}\n`)
        else for (const each of diagnostics) printError(`${diagnosticText(file ?? id, each)}\n`)
        process.exitCode = 1
        return
      }
      const prefixes = prefixesOf(mapping, base, id)
      const preview = { ...(await previewOf(dataset, mapping, prefixes, options.records)), file, diagnostics }
      if (options.json === true) printJson(preview)
      else {
        printDocument(preview.turtle)
        printError(`${headText(preview)}${rulesText(preview.rules, prefixes)}`)
      }
    })
}

function readOrDirect(dataset: DatasetAtHand, portal: string, given: string | undefined) {
  const { id, base, fields, statistics } = dataset
  const found = given === undefined ? mappingFile(portal, id) : { file: given, text: mappingFileText(given) }
  if (found === null) return { file: null, mapping: directMapping(base, dataset), diagnostics: [] }
  const { mapping, diagnostics } = checkMapping(found, { id, base, fields, statistics })
  return { file: shownPath(found.file), mapping, diagnostics }
}

async function previewOf(
  dataset: DatasetAtHand,
  mapping: Mapping,
  prefixes: Readonly<Record<string, string>>,
  limit: number,
) {
  const { lines, rules, records } = mapRecords(mapping, dataset, await dataset.records(limit))
  return { dataset: dataset.id, records, triples: lines.size, turtle: prettyText(lines, prefixes), rules }
}

function headText({ dataset, file, records, triples, diagnostics }: Preview): string {
  const result = `${counted(records, 'record')}, ${counted(triples, 'distinct triple')}`
  const count = diagnostics.filter(({ severity }) => severity === 'warning').length
  const warned = count === 0 ? '' : `; ${counted(count, 'warning')}, see: lodestone mapping check ${dataset}`
  return `\n${file ?? `${dataset}, which has no mapping of its own: the direct mapping`}: ${result}${warned}\n`
}

/** Maximum records of a preview: their triples are held in memory. */
const MAX_RECORDS = 10_000

function countArgument(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > MAX_RECORDS)
    throw new InvalidArgumentError(`a number from 1 to ${MAX_RECORDS} is expected.`)
  return Number(text)
}
