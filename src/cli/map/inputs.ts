import { basename } from 'node:path'
import type { Diagnostic } from '../../mapping/diagnostic.ts'
import type { LogicalSource, Mapping, MappingPlace, ResourceRule } from '../../mapping/ir.ts'
import type { CsvDialect } from '../../model/csv-dialect.ts'
import { nearest } from '../../model/did-you-mean.ts'

/** How records are read from a file. */
export interface Input {
  readonly file: string
  readonly formulation: 'csv' | 'json'
  /** Alternative JSONPaths: the first that selects records with a reference of the rules is used. */
  readonly iterators: readonly string[]
  readonly dialect: CsvDialect | undefined
}

/** Rules that run together over the records of one input, so that links are between rules of the same record. */
export interface RuleGroup {
  readonly input: Input
  readonly rules: readonly ResourceRule[]
}

/** Paths of the records in the documents that portals export, the likeliest first. */
const DEFAULT_ITERATORS: readonly string[] = [
  '$[*]',
  '$[*].fields',
  '$.records[*].fields',
  '$.records[*].record.fields',
  '$.results[*]',
  '$.features[*].properties',
  '$',
]

/** Iterators of mappings that were written for a dataset of a portal, independently of the file with its records. */
const OF_DATASET = /^\$\.?(?:records)?\[\*\]\.fields$/

/**
 * Finds the files that the rules of a mapping read, by the last segments of the paths in the mapping. Rules without a source, and
 * those of a dataset of a portal, read the only given file.
 *
 * @param kind RML names its files; a mapping of YARRRML may have been written for a dataset
 */
export function groupRules(
  { resources }: Mapping,
  files: readonly string[],
  kind: 'yarrrml' | 'rml',
): { readonly groups: readonly RuleGroup[]; readonly diagnostics: readonly Diagnostic[] } {
  const groups = new Map<string, { readonly input: Input; readonly rules: ResourceRule[] }>()
  const diagnostics: Diagnostic[] = []
  for (const rule of resources) {
    const inputs = new Map<string, Input>()
    const sources = rule.sources ?? []
    for (const source of sources.length === 0 ? [null] : sources) {
      const input = inputOf(source, files, kind)
      if (typeof input === 'string') diagnostics.push(unknownSource(input, rule, source, files))
      else inputs.set(JSON.stringify(input), input)
    }
    for (const [key, input] of inputs) {
      const group = groups.get(key)
      if (group === undefined) groups.set(key, { input, rules: [rule] })
      else group.rules.push(rule)
    }
  }
  return { groups: [...groups.values()], diagnostics: [...diagnostics, ...strangeLinks(groups.values())] }
}

/** The input of a source; a text describes why there is none. */
function inputOf(
  source: LogicalSource | null,
  files: readonly string[],
  kind: 'yarrrml' | 'rml',
): Input | string {
  const path = source?.path ?? null
  const named = path === null ? undefined : fileNamed(path, files)
  const given = source?.iterator ?? null
  const dialect = source?.dialect
  if (named !== undefined && source !== null) {
    const iterators = given === null ? standard(kind) : [given]
    return { file: named, formulation: source.formulation, iterators, dialect }
  }
  const [only] = files
  const isOfDataset = path === null || (kind === 'yarrrml' && given !== null && OF_DATASET.test(given))
  if (!isOfDataset) return `the source ${JSON.stringify(path)} is none of the files that were given`
  if (only === undefined || files.length > 1)
    return `no source is named, and ${files.length} files were given`
  const formulation = /\.(?:geojson|json|jsonl|ndjson)(?:\.gz)?$/i.test(only) ? 'json' : 'csv'
  const iterators =
    given === null ? standard(kind) : [given, ...DEFAULT_ITERATORS.filter(path => path !== given)]
  return { file: only, formulation, iterators, dialect }
}

/** The file for a path: the one whose own path ends with it, else the first of the same name. */
function fileNamed(path: string, files: readonly string[]): string | undefined {
  const ending = `/${path.replaceAll('\\', '/').replace(/^(?:\.?\/)+/, '')}`
  const exact = files.find(file => `/${file.replaceAll('\\', '/')}`.endsWith(ending))
  return exact ?? files.find(file => lastSegment(file) === lastSegment(path))
}

/** RML reads a document without an iterator as one record. */
function standard(kind: 'yarrrml' | 'rml'): readonly string[] {
  return kind === 'rml' ? ['$'] : DEFAULT_ITERATORS
}

/** Links between rules that do not run together. */
function* strangeLinks(groups: Iterable<RuleGroup>): Generator<Diagnostic> {
  for (const { rules } of groups)
    for (const rule of rules)
      for (const { object, place } of rule.statements) {
        if (object.type !== 'link' || rules.some(({ key }) => key === object.resource)) continue
        const message = `${rule.key} links to ${object.resource}, whose records come from another source: joins over sources are not supported.`
        yield finding('unsupported', 'error', message, place ?? rule.place)
      }
}

function unknownSource(
  reason: string,
  rule: ResourceRule,
  source: LogicalSource | null,
  files: readonly string[],
): Diagnostic {
  const names = files.map(lastSegment)
  const near = source?.path == null ? undefined : nearest(lastSegment(source.path), names)
  const hint = near === undefined ? undefined : `Did you mean ${near}?`
  return finding('source-unknown', 'error', `${rule.key}: ${reason}: ${names.join(', ')}.`, rule.place, hint)
}

/** The place for diagnostics without a known place. */
export const NOWHERE: MappingPlace = { line: 1, column: 1, endLine: 1, endColumn: 1, path: '' }

/** A diagnostic, at the beginning of the mapping where its place is not known. */
export function finding(
  code: Diagnostic['code'],
  severity: Diagnostic['severity'],
  message: string,
  place: MappingPlace = NOWHERE,
  hint?: string,
): Diagnostic {
  return { code, severity, message, place, ...(hint === undefined ? {} : { hint }) }
}

function lastSegment(path: string): string {
  return basename(path.replaceAll('\\', '/'))
}
