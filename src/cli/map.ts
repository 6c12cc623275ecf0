import { Command, Option } from 'commander'
import { usageFault } from '../config/faults.ts'
import { type Prefixes, turtle } from '../formats/turtle.ts'
import { diagnosticText, hasErrors, withoutRepeats } from '../mapping/diagnostic.ts'
import { mappingKind } from '../mapping/read.ts'
import { isIri } from '../rdf/iri-syntax.ts'
import {
  countDataErrors,
  DEFAULT_BASE,
  findingsOf,
  type InputReport,
  type MapReport,
  type Plan,
  planMapping,
  reportText,
  runPlan,
} from './map/run.ts'
import { mappingFileText } from './mapping/check.ts'
import { JSON_OPTION } from './options.ts'
import { print, printError } from './print.ts'

/** Output formats of triples. */
const MAP_FORMATS = ['turtle', 'nquads'] as const

interface Options {
  readonly format: (typeof MAP_FORMATS)[number]
  readonly base?: string
  readonly json?: boolean
}

/** `lodestone map`: maps files with YARRRML or RML, RDF to standard output, a report to standard error. */
export function mapCommand(): Command {
  return new Command('map')
    .description('write the RDF that a YARRRML or RML mapping makes of files')
    .argument('<mapping>', 'the mapping: YARRRML (.yml), or RML in Turtle (.ttl)')
    .argument('<files...>', 'CSV or JSON files, matched to the sources of the mapping by name')
    .addOption(new Option('--format <name>', 'how the RDF is written').choices(MAP_FORMATS).default('turtle'))
    .option('--base <iri>', 'what relative IRIs are resolved on where the mapping has no base')
    .option(JSON_OPTION[0], 'print the report as JSON')
    .action(async (mapping: string, files: readonly string[], options: Options) => {
      const { base } = options
      if (base !== undefined && !isIri(base)) throw usageFault(`--base ${base}: an absolute IRI is expected.`)
      const report = await runMapping(mapping, files, options)
      printError(described(report, options.json === true))
      if (hasErrors(report.diagnostics) || report.dataErrors > 0) process.exitCode = 1
    })
}

async function runMapping(file: string, files: readonly string[], options: Options): Promise<MapReport> {
  const text = mappingFileText(file)
  const kind = mappingKind(text, file)
  const read = await readAs(kind, text, options.base ?? DEFAULT_BASE)
  const { mapping } = read
  const prefixes = turtlePrefixes(mapping?.prefixes ?? {})
  const nothing = { mapping: file, prefixes, inputs: [], triples: 0, dataErrors: 0 }
  if (mapping === null) return { ...nothing, diagnostics: withoutRepeats(read.diagnostics) }
  const { plan, diagnostics } = await planMapping(mapping, kind, files, options.base)
  const before = withoutRepeats([...read.diagnostics, ...diagnostics])
  if (plan === null) return { ...nothing, diagnostics: before }
  if (plan.hasGraphs && options.format === 'turtle')
    throw usageFault('The mapping has named graphs, which Turtle cannot hold: use --format nquads.')
  const inputs: InputReport[] = []
  await print(written(plan, prefixes, options.format, input => inputs.push(input)))
  return {
    mapping: file,
    prefixes,
    diagnostics: [...before, ...findingsOf(plan)],
    inputs,
    triples: inputs.reduce((sum, { triples }) => sum + triples, 0),
    dataErrors: plan.dataErrors ? countDataErrors(inputs) : 0,
  }
}

/** Reads a mapping with the reader of its language; only that reader is loaded. */
async function readAs(kind: 'yarrrml' | 'rml', text: string, base: string) {
  switch (kind) {
    case 'yarrrml':
      return (await import('../mapping/yarrrml/read.ts')).readYarrrml(text)
    case 'rml':
      return (await import('../mapping/rml/read.ts')).readRml(text, { base })
    default:
      return kind satisfies never
  }
}

function written(
  plan: Plan,
  prefixes: Prefixes,
  format: Options['format'],
  describe: (input: InputReport) => void,
): AsyncIterable<string | Uint8Array> {
  const pieces = runPlan(plan, describe)
  switch (format) {
    case 'nquads':
      return pieces
    case 'turtle':
      return turtle(texts(pieces), prefixes)
  }
}

/** Prefixes of a mapping that can be written unchanged (RDF 1.1 Turtle, PN_PREFIX, restricted to ASCII). */
function turtlePrefixes(prefixes: Prefixes): Prefixes {
  const usable = Object.entries(prefixes).filter(
    ([prefix, namespace]) => /^(?:[A-Za-z][A-Za-z0-9_-]*)?$/.test(prefix) && isIri(namespace),
  )
  return Object.fromEntries(usable)
}

async function* texts(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  for await (const piece of pieces) yield piece.toString('utf8')
}

function described(report: MapReport, asJson: boolean): string {
  if (asJson) return `${JSON.stringify(report, null, 2)}\n`
  const diagnostics = report.diagnostics.map(diagnostic => `${diagnosticText(report.mapping, diagnostic)}\n`)
  const isRun = report.inputs.length > 0
  return diagnostics.join('') + (isRun ? reportText(report) : '0 triples: the mapping was not run.\n')
}
