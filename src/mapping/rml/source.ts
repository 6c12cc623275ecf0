import type { CsvDialect } from '../../model/csv-dialect.ts'
import { nearest } from '../../model/did-you-mean.ts'
import { lookup } from '../../model/lookup.ts'
import type { LogicalSource } from '../ir.ts'
import { below, type Location, Reading, shownTerm, turtlePlaceOf } from './reading.ts'
import type { DocumentNode, DocumentTerm, Property } from './turtle.ts'
import { rmlName } from './vocabulary.ts'

/**
 * Reads the logical source of a triples map (RML-IO, "Logical Source"); null if it has none that can be read. Where sources are
 * ignored, that is no error.
 */
export function readLogicalSource(reading: Reading, map: DocumentNode, at: Location): LogicalSource | null {
  if (!reading.ignoresSources) return readUsedSource(reading, map, at)
  const inner = new Reading(reading.document, true, reading.budget)
  const source = readUsedSource(inner, map, at)
  reading.budget = inner.budget
  for (const { message, place } of inner.diagnostics)
    reading.report('sources-ignored', { span: place, path: place.path }, message)
  return source
}

function readUsedSource(reading: Reading, map: DocumentNode, at: Location): LogicalSource | null {
  const property = reading.onlyValue(map, at, 'logicalSource')
  if (property === undefined) {
    if (reading.values(map, 'logicalTable').length === 0)
      reading.report('source-unknown', at, `${at.path} has no logical source`, 'Add rml:logicalSource [ … ]')
    return null
  }
  const here = below(at, property)
  const node = reading.nodeOf(property.object, 'logical source', here)
  if (node === undefined)
    return reading.report(
      'source-unknown',
      here,
      `The logical source ${shownTerm(property.object)} is not described`,
    )
  const formulation = readFormulation(reading, node, here)
  const source = readSource(reading, node, here)
  const iterator = readText(reading, node, here, 'iterator')
  if (formulation === null || source === null) return null
  return { ...source, formulation, iterator }
}

const FORMULATIONS: ReadonlyMap<string, 'csv' | 'json'> = new Map([
  ['CSV', 'csv'],
  ['JSONPath', 'json'],
])

function readFormulation(reading: Reading, node: DocumentNode, at: Location): 'csv' | 'json' | null {
  const property = reading.onlyValue(node, at, 'referenceFormulation')
  if (property === undefined)
    return reading.report(
      'source-unknown',
      at,
      'The logical source has no reference formulation',
      'Add rml:referenceFormulation rml:CSV or rml:JSONPath',
    )
  const { object } = property
  const name = object.type === 'iri' ? rmlName(object.value) : undefined
  const formulation = name === undefined ? undefined : FORMULATIONS.get(name)
  if (formulation !== undefined) return formulation
  const meant = nearest(name ?? object.value, FORMULATIONS.keys())
  return reading.report(
    'unsupported',
    below(at, property),
    `The reference formulation ${shownTerm(object)} is not supported, only CSV and JSONPath are`,
    meant === undefined ? undefined : `Did you mean ${meant}?`,
  )
}

function readSource(
  reading: Reading,
  node: DocumentNode,
  at: Location,
): Pick<LogicalSource, 'path' | 'dialect' | 'place'> | null {
  const property = reading.onlyValue(node, at, 'source')
  if (property === undefined)
    return reading.report('source-unknown', at, 'The logical source has no rml:source')
  const here = below(at, property)
  if (property.object.type === 'literal') return filePath(reading, property.object, here)
  const source = reading.nodeOf(property.object, 'source', here)
  if (source === undefined)
    return reading.report('source-unknown', here, `The source ${shownTerm(property.object)} is not described`)
  checkRoot(reading, source, here)
  const path = reading.onlyValue(source, here, 'path', 'csvw:url')
  if (path === undefined) {
    reportOtherSource(reading, source, here)
    return null
  }
  const file = filePath(reading, path.object, below(here, path))
  const dialect = readDialect(reading, source, here)
  return file === null ? null : { ...file, ...(dialect === undefined ? {} : { dialect }) }
}

const ROOTS = ['MappingDirectory', 'CurrentWorkingDirectory']

/** Files are found by name, so the root only has to be valid. */
function checkRoot(reading: Reading, source: DocumentNode, at: Location): void {
  const root = reading.onlyValue(source, at, 'root')
  if (root === undefined || root.object.type !== 'iri') return
  const name = rmlName(root.object.value)
  if (name === undefined || ROOTS.includes(name)) return
  const meant = nearest(name, ROOTS)
  const hint = meant === undefined ? `Roots are ${ROOTS.join(' and ')}` : `Did you mean rml:${meant}?`
  reading.report('value-shape', below(at, root), `${shownTerm(root.object)} is no root of paths`, hint)
}

/** Sources that are no files, by terms in their descriptions. */
const REMOTE: readonly (readonly [feature: string, mark: RegExp])[] = [
  ['databases', /d2rq|jdbc|\/ns\/sparql-service-description#/i],
  ['remote sources', /dcat#|wot\/|hydra|formats\/|void#|kafka|mqtt/i],
]

function reportOtherSource(reading: Reading, source: DocumentNode, at: Location): void {
  const said = source.properties.map(({ iri, object }) => `${iri} ${object.value}`).join('\n')
  const feature = REMOTE.find(([, mark]) => mark.test(said))?.[0]
  if (feature === undefined)
    reading.report('source-unknown', at, 'The source has no path', 'Add rml:path "FILE"')
  else reading.report('unsupported', at, `The source is none of files: ${feature} are not supported`)
}

function filePath(
  reading: Reading,
  term: DocumentTerm,
  at: Location,
): Pick<LogicalSource, 'path' | 'place'> | null {
  const text = term.type === 'iri' ? term.written.replace(/^<(.*)>$/s, '$1') : term.value
  if (/^(?!file:)[a-z][a-z0-9+.-]+:/i.test(text) && !/^[a-z]:[\\/]/i.test(text)) {
    const message = `The source ${shownTerm(term)} is not a file: remote sources are not supported`
    return reading.report(
      'unsupported',
      at,
      message,
      'Fetch it, write the name of the file here and give the file',
    )
  }
  if (text !== '' && term.type !== 'blank')
    return { path: text.replace(/^file:(\/\/)?/i, ''), place: turtlePlaceOf(at) }
  return reading.report('source-unknown', at, 'The path of the source is empty')
}

function readText(reading: Reading, node: DocumentNode, at: Location, name: string): string | null {
  const property = reading.onlyValue(node, at, name)
  if (property === undefined) return null
  if (property.object.type === 'literal') return property.object.value
  return reading.report('value-shape', below(at, property), `${property.written} takes a text in quotes`)
}

/** Reads the CSV dialect of a table (CSVW metadata, section 5.9) from the table and its dialect. */
function readDialect(reading: Reading, source: DocumentNode, at: Location): CsvDialect | undefined {
  const found: { -readonly [K in keyof CsvDialect]: CsvDialect[K] } = {}
  const nulls = reading.values(source, 'null', 'csvw:null')
  const encoding = reading.onlyValue(source, at, 'encoding')
  if (encoding !== undefined) found.encoding = plainName(encoding.object)
  const compression = reading.onlyValue(source, at, 'compression')
  if (compression !== undefined && plainName(compression.object) !== 'none')
    reading.report('unsupported', below(at, compression), 'Compressed sources are not supported')
  const property = reading.onlyValue(source, at, 'csvw:dialect')
  const here = property === undefined ? at : below(at, property)
  const node = property && reading.nodeOf(property.object, 'dialect', here)
  for (const said of node?.properties ?? []) readDialectProperty(reading, said, below(here, said), found)
  const all = [...nulls, ...(node === undefined ? [] : reading.values(node, 'csvw:null'))]
  if (all.length > 0) found.nulls = all.map(({ object }) => object.value)
  return Object.keys(found).length === 0 ? undefined : found
}

/** The text of a literal, or of an IRI of RML such as rml:UTF-8. */
function plainName(term: DocumentTerm): string {
  return (term.type === 'iri' ? rmlName(term.value) : undefined) ?? term.value
}

/** Values of a dialect that are the defaults. */
const DEFAULTS: Readonly<Record<string, readonly string[]>> = {
  'csvw:doubleQuote': ['true', '1'],
  'csvw:skipBlankRows': ['true', '1', 'false', '0'],
  'csvw:skipColumns': ['0'],
  'csvw:skipRows': ['0'],
  'csvw:lineTerminators': ['\n', '\r\n', '\\n', '\\r\\n'],
}

function readDialectProperty(
  reading: Reading,
  { iri, object, written }: Property,
  at: Location,
  found: { -readonly [K in keyof CsvDialect]: CsvDialect[K] },
): void {
  const name = rmlName(iri) ?? ''
  const text = object.value
  const isTrue = text === 'true' || text === '1'
  switch (name) {
    case 'csvw:delimiter':
      if (text.length === 1 || text === '\\t') found.delimiter = text === '\\t' ? '\t' : text
      else reading.report('value-shape', at, `A delimiter is one character, not ${shownTerm(object)}`)
      break
    case 'csvw:quoteChar':
      if (text.length <= 1) found.quote = text === '' ? null : text
      else reading.report('value-shape', at, `A quote is one character, not ${shownTerm(object)}`)
      break
    case 'csvw:encoding':
      found.encoding = text
      break
    case 'csvw:commentPrefix':
      found.comment = text
      break
    case 'csvw:header':
      found.header = isTrue
      break
    case 'csvw:headerRowCount':
      if (text === '0' || text === '1') found.header = text === '1'
      else reading.report('unsupported', at, 'Headers of several rows are not supported')
      break
    case 'csvw:trim':
    case 'csvw:skipInitialSpace':
      if (isTrue || text === 'false' || text === '0') found.trim ||= isTrue
      else
        reading.report(
          'unsupported',
          at,
          `${written} ${shownTerm(object)} is not supported, true and false are`,
        )
      break
    default:
      if (lookup(DEFAULTS, name)?.includes(text) === false)
        reading.report('unsupported', at, `${written} ${shownTerm(object)} is not supported`)
  }
}
