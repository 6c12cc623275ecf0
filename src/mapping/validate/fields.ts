import type { DatasetStatistics } from '../../model/dataset.ts'
import { type Field, type FieldType, isGeo } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { numberText } from '../../model/number.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { literalType } from '../../rdf/literals.ts'
import { GEO } from '../../rdf/vocab.ts'
import type { DiagnosticCode } from '../diagnostic.ts'
import { constantText, type Mapping, type MappingPlace, type Segment, type TermMap } from '../ir.ts'

/** An example value of each type, for checks without statistics. */
const EXAMPLES: Readonly<Record<FieldType, string>> = {
  text: 'text',
  int: '2020',
  double: '1.5',
  boolean: 'true',
  date: '2020-01-31',
  datetime: '2020-01-31T12:30:00Z',
  geo_point_2d: 'POINT(0 0)',
  geo_shape: 'POINT(0 0)',
}

/** Known values of a field: from the statistics of its version, else an example of its type. */
function sampleValues({ dataset }: Checking, field: Field): readonly string[] {
  const known = lookup(dataset.statistics?.fields ?? {}, field.name)
  const values = [...(known?.quantiles ?? []), known?.min, known?.max]
    .filter(value => value !== null && value !== undefined)
    .map(value => (typeof value === 'number' ? numberText(value) : value))
  return values.length === 0 ? [EXAMPLES[field.type]] : values
}

/** Checks a literal: its datatype and language against the type and the values of its field. */
export function checkDatatype(
  checking: Checking,
  literal: TermMap & { type: 'literal' },
  place: MappingPlace | undefined,
  markPlace: MappingPlace | undefined,
): void {
  const { segments, datatype, language } = literal
  checkConstants(checking, segments, place, 'literal')
  const [first] = segments
  const field = segments.length === 1 && first?.type === 'field' ? checking.field(first.name) : undefined
  if (language !== undefined && field !== undefined && field.type !== 'text')
    checking.report(
      'field-type-vs-datatype',
      markPlace,
      `the field ${field.name} is of the type ${field.type}, which is in no language`,
      'Take the language away.',
    )
  if (typeof datatype !== 'string') return
  const rules = literalType(datatype)
  const name = datatype.split(/[#/]/).at(-1) ?? datatype
  if (rules !== null && rules.stored !== datatype)
    checking.report(
      'lossy-datatype',
      markPlace,
      `the store keeps values of xsd:${name} as xsd:${rules.stored.split('#').at(-1)}`,
    )
  if (field === undefined) return
  const wrong = field.type !== 'text' && !isGeo(field.type) && datatype === GEO.wktLiteral
  const samples = wrong ? [] : sampleValues(checking, field)
  const bad = rules === null ? undefined : samples.find(value => rules.canonical(value) === null)
  if (!wrong && bad === undefined) return
  checking.report(
    'field-type-vs-datatype',
    markPlace,
    `the field ${field.name} is of the type ${field.type}, and ` +
      (bad === undefined ? `no value is a ${name}` : `a value such as \`${bad.slice(0, 40)}\` is no ${name}`),
    'Such values make no triple. Take the datatype away: the type of the field determines it.',
  )
}

/** Checks an IRI that is built from fields. */
export function checkIriField(
  checking: Checking,
  term: TermMap & { type: 'iri' },
  place: MappingPlace | undefined,
): void {
  const { segments } = term
  checkConstants(checking, segments, place, 'iri')
  for (const segment of segments) {
    if (segment.type !== 'field') continue
    const field = checking.field(segment.name)
    if (field !== undefined && isGeo(field.type))
      checking.report(
        'field-type-vs-datatype',
        segment.place ?? place,
        `the field ${field.name} is a geometry, and is used inside an IRI`,
      )
  }
  const [first] = segments
  if (segments.length !== 1 || first?.type !== 'field') return
  const field = checking.field(first.name)
  if (field === undefined) return
  const samples = field.type === 'text' ? statisticsOnly(checking, field) : sampleValues(checking, field)
  if (samples.length === 0 || samples.some(isIri)) return
  checking.report(
    'iri-field-not-url',
    first.place ?? place,
    `the values of the field ${field.name} are taken as IRIs as they are, and ` +
      `\`${(samples[0] ?? '').slice(0, 40)}\` is none`,
    'Put the fixed part of the IRI before it: http://example.org/$(field).',
  )
}

function statisticsOnly(checking: Checking, field: Field): readonly string[] {
  return lookup(checking.dataset.statistics?.fields ?? {}, field.name)?.quantiles?.map(String) ?? []
}

const REFERENCE_LIKE = /\$\[?([\p{L}_][\p{L}\p{N}_]*)|[([<]([\p{L}_][\p{L}\p{N}_]*)[)\]>]?/gu

/** Reports constant text that names a field, like a reference that lost its `$()`. */
function checkConstants(
  checking: Checking,
  segments: readonly Segment[],
  place: MappingPlace | undefined,
  type: 'iri' | 'literal',
): void {
  const whole = constantText(segments)
  const names: string[] = []
  if (type === 'literal' && whole !== null && checking.field(whole) !== undefined) names.push(whole)
  for (const segment of segments) {
    if (segment.type !== 'constant') continue
    for (const found of segment.text.slice(0, 2000).matchAll(REFERENCE_LIKE)) {
      const name = found[1] ?? found[2]
      if (name !== undefined && checking.field(name) !== undefined) names.push(name)
    }
  }
  for (const name of new Set(names))
    checking.report(
      'looks-like-reference',
      place,
      `\`${name}\` is the name of a field, and is used here as text`,
      `Write $(${name}) for the value of the field.`,
    )
}

/** The dataset that a mapping is for. */
export interface MappedDataset {
  readonly id: string
  /** Public address of the portal without a trailing slash. */
  readonly base: string
  readonly fields: readonly Field[]
  readonly statistics?: DatasetStatistics
}

/** The shared state of the checks of one mapping. */
export interface Checking {
  readonly mapping: Mapping
  readonly dataset: MappedDataset
  readonly field: (name: string) => Field | undefined
  readonly report: (
    code: DiagnosticCode,
    place: MappingPlace | undefined,
    message: string,
    hint?: string,
  ) => void
}
