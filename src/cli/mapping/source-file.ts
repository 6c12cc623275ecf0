import path from 'node:path'
import type { MappingColumn } from '../../mapping/columns.ts'
import type {
  LogicalSource,
  Mapping,
  ObjectMap,
  ResourceRule,
  Segment,
  StatementRule,
  TermMap,
} from '../../mapping/ir.ts'
import type { Field } from '../../model/field.ts'
import { fieldName } from '../../portal/selection.ts'
import { GEO, XSD } from '../../rdf/vocab.ts'
import type { SourceSpec } from '../../sources/open.ts'
import type { FieldSpec } from '../../sources/typing/fields.ts'
import type { DatasetAtHand } from './dataset.ts'

/** A mapping whose references are columns of a file, for engines that read only files. */
export interface MappingOverFile {
  /** Its rules name the file. */
  readonly mapping: Mapping
  readonly columns: readonly MappingColumn[]
  readonly description: string
  /** Statements that cannot be expressed over a file. */
  readonly leftOut: readonly string[]
}

/**
 * Rewrites a mapping of fields as one of columns. The dataset's own file is used if it has the values of all fields as the
 * mapping needs them; else its JSON export, in which columns are fields.
 *
 * @param old true for references into JSON in the syntax of the first RML engines: `name` instead of `$.name`
 */
export async function overFile(
  mapping: Mapping,
  dataset: DatasetAtHand,
  old: boolean,
): Promise<MappingOverFile> {
  const { id, base, definition, fields } = dataset
  const specs = await dataset.specs()
  const used = new Set(mapping.resources.flatMap(rule => [...fieldsOf(rule)]))
  const hasIds = used.has(RECORD_ID) && !fields.some(({ name }) => name === RECORD_ID)
  const required = specs.filter(({ name }) => used.has(name))
  const own = hasIds ? null : ownFile(definition.source, required, old)
  const { source, references } = own ?? exportFile(id, fields, old)
  const name = (field: string) => references.get(field) ?? field
  const columns = fields.map(field => ({ ...field, name: name(field.name) }))
  const placed = (rules: Mapping) => ({
    ...rules,
    resources: rules.resources.map(rule => ({ ...rule, sources: [source] })),
  })
  if (own !== null) {
    const described = `Made for the file ${source.path} of the dataset ${id}.`
    return { mapping: placed(renamed(mapping, name)), columns, description: described, leftOut: [] }
  }
  const { resources, leftOut } = withoutShapes(mapping.resources, fields, old)
  const names = fields.map(field => encodeURIComponent(fieldName(field.name)))
  const select = hasIds ? `?select=${RECORD_ID},${names.join(',')}` : ''
  const address = `${base}/api/explore/v2.1/catalog/datasets/${id}/exports/json${select}`
  return {
    mapping: placed(renamed({ ...mapping, resources }, name)),
    columns,
    description: `Made for the dataset's export as JSON: curl -o ${source.path} '${address}'`,
    leftOut,
  }
}

const RECORD_ID = 'recordid'

interface FileOfFields {
  readonly source: LogicalSource
  readonly references: ReadonlyMap<string, string>
}

/** The dataset's own file; null if other engines would read different values from it. */
function ownFile(spec: SourceSpec, specs: readonly FieldSpec[], old: boolean): FileOfFields | null {
  if (spec.path === undefined) return null
  const formulation = spec.format ?? path.extname(spec.path).slice(1).toLowerCase()
  if (formulation !== 'csv' && formulation !== 'json') return null
  if ((spec.options?.encoding ?? 'utf-8') !== 'utf-8' || (spec.options?.delimiter ?? ',') !== ',') return null
  const references = new Map<string, string>()
  for (const each of specs) {
    const reference = formulation === 'csv' ? columnOf(each) : pathOf(each, old)
    if (reference === null) return null
    references.set(each.name, reference)
  }
  const iterator = formulation === 'csv' ? null : recordsPath(spec.options?.records)
  const file = { path: path.basename(spec.path), formulation, iterator } as const
  // The first RML has no syntax for this that all engines support.
  const source = formulation === 'csv' && !old ? { ...file, dialect: { nulls: [''] } } : file
  return { source, references }
}

/** The JSON export of a dataset, with the ids of the records if they are needed. */
function exportFile(id: string, fields: readonly Field[], old: boolean): FileOfFields {
  const references = fields.map(
    ({ name, multivalued }) => [name, jsonPath([name], multivalued, old)] as const,
  )
  return {
    source: { path: `${id}.json`, formulation: 'json', iterator: '$[*]' },
    references: new Map([[RECORD_ID, jsonPath([RECORD_ID], false, old)], ...references]),
  }
}

/** The path of a value in a record; engines of the first RML iterate over lists implicitly. */
function jsonPath(steps: readonly string[], isList: boolean, old: boolean): string {
  if (old && steps.every(step => /^[A-Za-z_]\w*$/.test(step))) return steps.join('.')
  return `$${steps.map(stepText).join('')}${isList ? '[*]' : ''}`
}

/** Types whose values have the same form in a file and in RDF, unless a format is declared. */
const PLAIN: readonly (Field['type'] | undefined)[] = [undefined, 'text', 'int', 'double', 'boolean', 'date']

function columnOf({ name, type, from, format, keys, annotations }: FieldSpec): string | null {
  const plain = PLAIN.includes(type) && format === undefined && keys !== true
  if (!plain || annotations?.multivalued !== undefined || Array.isArray(from)) return null
  return (from as string | undefined) ?? name
}

function pathOf(spec: FieldSpec, old: boolean): string | null {
  const { name, type, from, format, keys, annotations } = spec
  if (!PLAIN.includes(type) || format !== undefined || keys === true || Array.isArray(from)) return null
  const pointer = (from as string | undefined) ?? name
  if ((annotations?.multivalued?.length ?? 0) > 0) return null
  const steps = pointer.startsWith('/') ? pointer.slice(1).split('/') : [pointer]
  if (steps.some(step => step === '*' || /[\\'~]/.test(step))) return null
  return jsonPath(steps, annotations?.multivalued !== undefined, old)
}

function stepText(step: string): string {
  return /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `['${step}']`
}

function recordsPath(pointer: string | undefined): string {
  if (pointer === undefined || pointer === '') return '$[*]'
  return `$${pointer.slice(1).split('/').map(stepText).join('')}[*]`
}

function* fieldsOf({ subject, graphs, statements }: ResourceRule): Generator<string> {
  for (const term of [subject, ...(graphs ?? []), ...statements.flatMap(termsOf)]) yield* namesOf(term)
}

function termsOf({ predicate, object, graphs }: StatementRule): readonly ObjectMap[] {
  return [...(typeof predicate === 'string' ? [] : [predicate]), object, ...(graphs ?? [])]
}

function namesOf(term: ObjectMap): readonly string[] {
  if (term.type === 'link') return []
  if (term.type === 'natural') return [term.field]
  const forms = term.type === 'literal' ? [term.datatype, term.language] : []
  return [term.segments, ...forms]
    .flatMap(segments => (typeof segments === 'object' ? segments : []))
    .flatMap(segment =>
      segment.type === 'field' ? [segment.name] : segment.type === 'recordId' ? [RECORD_ID] : [],
    )
}

function renamed(mapping: Mapping, name: (field: string) => string): Mapping {
  const segments = (list: readonly Segment[]) =>
    list.map((segment): Segment => {
      if (segment.type === 'constant') return segment
      if (segment.type === 'recordId') return { type: 'field', name: name(RECORD_ID) }
      return { ...segment, name: name(segment.name) }
    })
  const term = (map: TermMap): TermMap => {
    switch (map.type) {
      case 'natural':
        return { ...map, field: name(map.field) }
      case 'iri':
      case 'blank':
        return { ...map, segments: segments(map.segments) }
      case 'literal': {
        const { datatype, language } = map
        return {
          ...map,
          segments: segments(map.segments),
          ...(typeof datatype === 'object' ? { datatype: segments(datatype) } : {}),
          ...(typeof language === 'object' ? { language: segments(language) } : {}),
        }
      }
    }
  }
  return { ...mapping, resources: mapping.resources.map(rule => mapTerms(rule, term)) }
}

/** A rule with each of its term maps replaced. */
export function mapTerms(rule: ResourceRule, term: (map: TermMap) => TermMap): ResourceRule {
  return {
    ...rule,
    subject: term(rule.subject),
    ...(rule.graphs === undefined ? {} : { graphs: rule.graphs.map(term) }),
    statements: rule.statements.map(statement => ({
      ...statement,
      predicate: typeof statement.predicate === 'string' ? statement.predicate : term(statement.predicate),
      object: statement.object.type === 'link' ? statement.object : term(statement.object),
      ...(statement.graphs === undefined ? {} : { graphs: statement.graphs.map(term) }),
    })),
  }
}

/**
 * In JSON a point is an object of lon and lat, which can be written as WKT; a shape is GeoJSON, which no engine can convert: its
 * statements are left out.
 */
function withoutShapes(rules: readonly ResourceRule[], fields: readonly Field[], old: boolean) {
  const shapes = new Set(fields.filter(({ type }) => type === 'geo_shape').map(({ name }) => name))
  const points = new Set(fields.filter(({ type }) => type === 'geo_point_2d').map(({ name }) => name))
  const leftOut: string[] = []
  const resources = rules.map(rule => ({
    ...rule,
    statements: rule.statements.flatMap(statement => {
      const { object } = statement
      const lost = termsOf(statement)
        .flatMap(namesOf)
        .find(name => shapes.has(name))
      if (lost !== undefined) {
        leftOut.push(
          `${rule.key}, ${String(statement.predicate)} $(${lost}): a shape is no WKT in the export`,
        )
        return []
      }
      const point = pointName(object, points)
      return [point === null ? statement : { ...statement, object: pointText(point, old) }]
    }),
  }))
  return { resources, leftOut }
}

/** The point field that is the complete object of a statement. */
function pointName(object: ObjectMap, points: ReadonlySet<string>): string | null {
  if (object.type === 'natural') return points.has(object.field) ? object.field : null
  if (object.type !== 'literal' || (object.datatype !== GEO.wktLiteral && object.datatype !== XSD.string))
    return null
  const [only, second] = object.segments
  return only?.type === 'field' && second === undefined && points.has(only.name) ? only.name : null
}

function pointText(name: string, old: boolean): TermMap {
  return {
    type: 'literal',
    segments: [
      { type: 'constant', text: 'POINT(' },
      { type: 'field', name: jsonPath([name, 'lon'], false, old) },
      { type: 'constant', text: ' ' },
      { type: 'field', name: jsonPath([name, 'lat'], false, old) },
      { type: 'constant', text: ')' },
    ],
    datatype: GEO.wktLiteral,
  }
}
