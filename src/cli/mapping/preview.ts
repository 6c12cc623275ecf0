import path from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import type { RuleReport } from '../../mapping/compile.ts'
import { type Diagnostic, diagnosticText } from '../../mapping/diagnostic.ts'
import { directMapping } from '../../mapping/direct.ts'
import type { Mapping } from '../../mapping/ir.ts'
import { checkMapping, mappingFile } from '../../publishing/mapping/mapping-file.ts'
import { prettyText } from '../../publishing/mapping/mapping-lines.ts'
import { mapRecords, prefixesOf } from '../../publishing/mapping/mapping-preview.ts'
import { mappingFileText } from '../mapping-file-text.ts'
import { BASE_OPTION, JSON_OPTION, PORTAL_OPTION, type PortalOptions } from '../options.ts'
import { printDocument, printError, printJson, printText } from '../print.ts'
import { configOf } from '../settings.ts'
import { type DatasetAtHand, datasetAtHand } from './dataset.ts'
import { rulesText } from './rules.ts'

interface PreviewOptions extends PortalOptions {
  readonly records: number
  readonly mapping?: string
  readonly json?: boolean
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

/** `lodestone mapping preview`: the triples of some records, and the result of each rule. */
export function mappingPreviewCommand(): Command {
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
      const { portal, base } = configOf(options)
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
  const relative = path.relative(process.cwd(), found.file)
  return { file: relative.startsWith('..') ? found.file : relative, mapping, diagnostics }
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

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Maximum records of a preview: their triples are held in memory. */
const MAX_RECORDS = 10_000

function countArgument(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > MAX_RECORDS)
    throw new InvalidArgumentError(`a number from 1 to ${MAX_RECORDS} is expected.`)
  return Number(text)
}
