import { readFileSync, writeFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { USAGE } from '../../config/faults.ts'
import { Fault } from '../../errors/errors.ts'
import { diagnosticText } from '../../mapping/diagnostic.ts'
import { directMapping, directMappingText } from '../../mapping/direct.ts'
import { MAPPING_INVALID } from '../../mapping/faults.ts'
import { writeRml } from '../../mapping/rml/write.ts'
import { checkMapping, mappingFile } from '../../publishing/mapping/mapping-file.ts'
import { BASE_OPTION, PORTAL_OPTION, type PortalOptions } from '../options.ts'
import { printDocument, printError } from '../print.ts'
import { configOf } from '../settings.ts'
import { type DatasetAtHand, datasetAtHand } from './dataset.ts'
import { overFile } from './source-file.ts'

const EXPORT_FORMATS = ['rml', 'yarrrml'] as const

interface ExportOptions extends PortalOptions {
  readonly format: (typeof EXPORT_FORMATS)[number]
  readonly new?: boolean
  readonly out?: string
}

/** `lodestone mapping export`: a dataset's mapping for other engines. */
export function mappingExportCommand(): Command {
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
      const { portal, base } = configOf(options)
      const dataset = await datasetAtHand(portal, base, id)
      const text =
        options.format === 'rml'
          ? await rmlText(dataset, portal, options.new !== true)
          : yarrrmlText(dataset, portal)
      if (options.out === undefined) printDocument(text)
      else writeFileSync(options.out, text)
    })
}

function yarrrmlText(dataset: DatasetAtHand, portal: string): string {
  const found = mappingFile(portal, dataset.id)
  if (found === null) return directMappingText(dataset)
  if (!/\.ya?ml$/.test(found.file))
    throw new Fault(USAGE, { reason: `${found.file} is RML; it is not written as YARRRML.` })
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
