import { nearest } from '../../model/did-you-mean.ts'
import { INITIAL_CONTEXT } from '../../rdf/prefixes.ts'
import { type Diagnostic, hasErrors } from '../diagnostic.ts'
import type { Mapping } from '../ir.ts'
import { Reading } from './reading.ts'
import { readResource } from './statements.ts'
import { checkScheme } from './template.ts'
import type { TurtleSpan } from './token-tracker.ts'
import { type MapsById, triplesMaps } from './triples-maps.ts'
import { readTurtle, type TurtleDocument, type TurtleError } from './turtle.ts'
import { CSVW, QL, R2RML, RML, RML1 } from './vocabulary.ts'

/** Maximum size of a document in octets. */
const MAX_SIZE = 256 * 1024
const MAX_TRIPLES_MAPS = 200
/** Maximum number of statements of a document. */
const MAX_STATEMENTS = 2000

/** The result of reading an RML document. */
export interface RmlDocument {
  /** Null if the document has errors. */
  readonly mapping: Mapping | null
  readonly diagnostics: readonly Diagnostic[]
}

/** Options for reading an RML document. */
export interface RmlOptions {
  /** Base for relative IRIs from records, if neither rml:baseIRI nor the document's \@base defines one. */
  readonly base?: string
  /** True if the records are those of a dataset: problems of sources are only informational then. */
  readonly ignoreSources?: boolean
}

const START: TurtleSpan = { line: 1, column: 1, endLine: 1, endColumn: 1 }

/**
 * Reads a mapping in RML, in Turtle: the vocabulary of RML-Core and RML-IO (2024), that of R2RML with the first RML, or both in
 * one document. Never throws; what cannot be used is reported with its position.
 */
export function readRml(text: string, options: RmlOptions = {}): RmlDocument {
  const nothing: TurtleDocument = { nodes: new Map(), prefixes: new Map(), base: undefined }
  if (Buffer.byteLength(text) > MAX_SIZE) {
    const reading = new Reading(nothing, false)
    reading.report('limits', { span: START, path: '' }, `The mapping is longer than ${MAX_SIZE / 1024} kB`)
    return { mapping: null, diagnostics: reading.diagnostics }
  }
  const document = readTurtle(text)
  if ('reason' in document) {
    const reading = new Reading(nothing, false)
    reportSyntax(reading, document, text)
    return { mapping: null, diagnostics: reading.diagnostics }
  }
  const reading = new Reading(document, options.ignoreSources === true)
  const mapping = readDocument(reading, options)
  const diagnostics = reading.diagnostics.sort(
    (a, b) => a.place.line - b.place.line || a.place.column - b.place.column,
  )
  return { mapping: hasErrors(diagnostics) ? null : mapping, diagnostics }
}

function readDocument(reading: Reading, options: RmlOptions): Mapping {
  const { document } = reading
  checkPrefixes(reading, document)
  const maps = triplesMaps(reading, options.base)
  const [first] = document.nodes.values()
  const start = { span: first?.span ?? START, path: '' }
  if (maps.length === 0)
    reading.report(
      'no-mappings',
      start,
      'There is no triples map: nothing has a logical source and a subject map',
    )
  if (maps.length > MAX_TRIPLES_MAPS)
    reading.report(
      'limits',
      start,
      `There are ${maps.length} triples maps, at most ${MAX_TRIPLES_MAPS} can be`,
    )
  const byId: MapsById = new Map(maps.map(map => [map.node.id, map]))
  let left = MAX_STATEMENTS
  const resources = maps.slice(0, MAX_TRIPLES_MAPS).map(map => {
    const resource = readResource(reading, map, byId, left)
    left -= resource.statements.length
    return resource
  })
  if (left < 0) reading.report('limits', start, `There are more than ${MAX_STATEMENTS} statements`)
  if (reading.budget < 0)
    reading.report('limits', start, 'The nodes of the mapping are used too often in one another')
  return {
    resources,
    generation: isNew(document) ? 'new' : 'old',
    prefixes: Object.fromEntries([...document.prefixes].map(([prefix, { iri }]) => [prefix, iri])),
  }
}

/** True if a document uses any term of the vocabulary of 2024. */
function isNew({ nodes }: TurtleDocument): boolean {
  for (const { properties } of nodes.values())
    if (properties.some(({ iri, object }) => iri.startsWith(RML) || object.value.startsWith(RML))) return true
  return false
}

/** Customary namespaces of prefixes. */
const WELL_KNOWN: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...INITIAL_CONTEXT, rml: RML, rr: R2RML, ql: QL, csvw: CSVW }),
)

/** The customary namespaces of the prefixes of RML. */
const CUSTOMARY: ReadonlyMap<string, readonly string[]> = new Map([
  ['rml', [RML, RML1]],
  ['rr', [R2RML, RML]],
  ['ql', [QL]],
  ['csvw', [CSVW]],
])

/** Reports prefixes that look like those of RML but have another namespace: none of the document's terms are then recognised. */
function checkPrefixes(reading: Reading, { prefixes, base }: TurtleDocument): void {
  if (base !== undefined) checkScheme(reading, { span: base.span, path: '@base' }, base.iri)
  for (const [prefix, { iri, span }] of prefixes) {
    checkScheme(reading, { span, path: `@prefix ${prefix}` }, iri)
    const namespaces = CUSTOMARY.get(prefix)
    if (namespaces === undefined) reportNearNamespace(reading, prefix, iri, span)
    if (namespaces === undefined || namespaces.includes(iri)) continue
    const message = `The prefix ${prefix} stands for <${iri}>, which is no vocabulary of mappings`
    reading.report(
      'prefix-iri-invalid',
      { span, path: `@prefix ${prefix}` },
      message,
      `Write <${namespaces[0]}>`,
    )
  }
}

/** Reports a well-known prefix whose namespace is nearly the customary one. */
function reportNearNamespace(reading: Reading, prefix: string, iri: string, span: TurtleSpan): void {
  const standard = WELL_KNOWN.get(prefix)
  if (standard === undefined || standard === iri || standard.replace(/^http:/, 'https:') === iri) return
  if (nearest(iri, [standard]) === undefined) return
  const message = `The prefix ${prefix}: stands for <${iri}>, which is nearly what it usually stands for`
  const at = { span, path: `@prefix ${prefix}` }
  reading.report('prefix-redefines-default', at, message, `Did you mean <${standard}>?`)
}

function reportSyntax(reading: Reading, error: TurtleError, text: string): void {
  const { span, reason, prefix, declared } = error
  const at = { span, path: '' }
  if (error.isUnsupported === true) {
    reading.report('unsupported', at, reason)
    return
  }
  if (prefix === undefined) {
    reading.report('turtle-syntax', at, `This is not Turtle: ${reason}`)
    return
  }
  const unused = [...declared].filter(([name]) => text.split(`${name}:`).length === 2)
  const meant = nearest(prefix, declared.keys())
  const known = WELL_KNOWN.get(prefix)
  const hint =
    known !== undefined
      ? `Add @prefix ${prefix}: <${known}> .`
      : meant !== undefined
        ? `Did you mean ${meant}:?`
        : `Add @prefix ${prefix}: <…> .`
  reading.report('prefix-unknown', at, `No line declares the prefix ${prefix}:`, hint)
  const [misspelt, declaration] =
    unused.find(([name, { iri }]) => iri === known || nearest(prefix, [name]) !== undefined) ?? []
  if (declaration !== undefined)
    reading.report(
      'prefix-unused',
      { span: declaration.span, path: `@prefix ${misspelt}` },
      `The prefix ${misspelt}: is declared and never used`,
      `Did you mean ${prefix}:?`,
    )
}
