import { directMapping } from '../mapping/direct.ts'
import {
  outlineMapping,
  type PropertyOutline,
  type ResourceOutline,
  type ValueOutline,
} from '../mapping/outline.ts'
import type { DatasetStatistics } from '../model/dataset.ts'
import type { Field, FieldType } from '../model/field.ts'
import { lookup } from '../model/lookup.ts'
import { titleOf } from '../model/metadata.ts'
import { datasetIri } from '../rdf/minted-iris.ts'
import { iriText, literalText } from '../rdf/ntriples.ts'
import { type StatementOf, tripleWriterOf } from '../rdf/statements.ts'
import { momentMeta } from './catalog-dataset.ts'
import type { ServedDataset } from './served.ts'
import { descriptionAddress, languageOf, shapesAddress, VOID_PREFIXES } from './void.ts'

type Statement = StatementOf<typeof VOID_PREFIXES>
const { name, t } = tripleWriterOf(VOID_PREFIXES)

/** The input for the shapes of a dataset. */
export type ShapedDataset = Pick<
  ServedDataset,
  'dataset' | 'mapping' | 'statistics' | 'published' | 'content'
>

/** Types whose values become distinct texts in templates, so that their counts are equal. */
const COUNTED: ReadonlySet<FieldType> = new Set(['text', 'int', 'date'])

/**
 * The SHACL shapes of a dataset as N-Triples (Shapes Constraint Language, sections 2 to 4): a node shape for each kind of
 * resource of its mapping, with the properties, node kinds, datatypes, languages and cardinalities. Null for an RDF file, whose
 * triples belong to no field.
 */
export function datasetShapes(entry: ShapedDataset, base: string): string | null {
  const { dataset, mapping, statistics, content } = entry
  const document = shapesAddress(base, dataset.id)
  if (content === 'rdf') return null
  const outlines = outlineMapping(mapping?.mapping ?? directMapping(base, dataset), {
    fields: dataset.fields,
    ...knownFields(dataset.fields, statistics),
  })
  const language = languageOf(entry)
  const head = t(iriText(document), [
    ['rdf:type', name('owl:Ontology')],
    ['rdf:type', name('dcterms:Standard')],
    ['dcterms:title', literalText(`Shapes of ${titleOf(dataset)}`)],
    ['foaf:primaryTopic', iriText(datasetIri(base, dataset.id))],
    ['dcterms:modified', literalText(String(momentMeta(entry.published)), `${VOID_PREFIXES.xsd}dateTime`)],
    ['rdfs:seeAlso', iriText(descriptionAddress(base, dataset.id))],
  ])
  const writer = new ShapeWriter(document, dataset.fields, language)
  return head + outlines.map((outline, at) => writer.node(outline, at)).join('')
}

/** The fields with a value in every record, and those whose values are all distinct. */
function knownFields(fields: readonly Field[], { records, fields: known }: DatasetStatistics) {
  const [complete, unique] = [new Set<string>(), new Set<string>()]
  for (const { name, type, multivalued } of fields) {
    const found = lookup(known, name)
    if (found === undefined || multivalued) continue
    if (found.present === records) complete.add(name)
    if (found.distinct === found.present && COUNTED.has(type)) unique.add(name)
  }
  return { complete, unique }
}

class ShapeWriter {
  private readonly document: string
  private readonly fields: readonly Field[]
  private readonly language: string
  private blanks = 0

  constructor(document: string, fields: readonly Field[], language: string) {
    this.document = document
    this.fields = fields
    this.language = language
  }

  node({ key, classes, properties }: ResourceOutline, at: number): string {
    const node = iriText(`${this.document}#shape-${at + 1}`)
    const part = (index: number) => iriText(`${this.document}#shape-${at + 1}-${index + 1}`)
    return [
      t(node, [
        ['rdf:type', name('sh:NodeShape')],
        ['rdfs:label', literalText(key)],
        ...classes.map((iri): Statement => ['sh:targetClass', iriText(iri)]),
        ...(classes.length > 0 ? [] : properties).map(
          ({ iri }): Statement => ['sh:targetSubjectsOf', iriText(iri)],
        ),
        ['sh:nodeKind', name('sh:IRI')],
        ...properties.map((_, index): Statement => ['sh:property', part(index)]),
      ]),
      ...properties.map((property, index) => this.property(part(index), property, index)),
    ].join('')
  }

  private property(node: string, property: PropertyOutline, at: number): string {
    const { iri, values, field: named, isSingle, isRequired } = property
    const field = this.fields.find(each => each.name === named)
    const text = (value: string) => literalText(value, undefined, this.language)
    const number = (value: number) => literalText(String(value), `${VOID_PREFIXES.xsd}integer`)
    const value = this.value(values)
    return (
      t(node, [
        ['rdf:type', name('sh:PropertyShape')],
        ['sh:path', iriText(iri)],
        ['sh:name', field === undefined ? null : text(field.label)],
        ['sh:description', field?.description == null ? null : text(field.description)],
        ['sh:order', number(at + 1)],
        ['sh:minCount', isRequired ? number(1) : null],
        ['sh:maxCount', isSingle ? number(1) : null],
        ...value.statements,
      ]) + value.text
    )
  }

  /** Constraints on values: a single kind in the shape itself, several as alternatives. */
  private value(values: readonly ValueOutline[]): {
    readonly statements: readonly Statement[]
    readonly text: string
  } {
    const [only] = values
    if (only === undefined) return { statements: [], text: '' }
    if (values.length === 1) return this.constraints(only)
    const shapes = values.map(value => {
      const { statements, text } = this.constraints(value)
      const node = this.blank()
      return { node, text: t(node, statements) + text }
    })
    const list = this.list(shapes.map(({ node }) => node))
    return {
      statements: [['sh:or', list.node]],
      text: list.text + shapes.map(({ text }) => text).join(''),
    }
  }

  private constraints(value: ValueOutline): {
    readonly statements: readonly Statement[]
    readonly text: string
  } {
    if (value.type === 'iri')
      return {
        statements: [
          ['sh:nodeKind', name('sh:IRI')],
          ...value.classes.map((iri): Statement => ['sh:class', iriText(iri)]),
        ],
        text: '',
      }
    const { datatype, language } = value
    const languages = language === null || language === '*' ? null : this.list([literalText(language)])
    return {
      statements: [
        ['sh:nodeKind', name('sh:Literal')],
        ['sh:datatype', datatype === null ? null : iriText(datatype)],
        ['sh:languageIn', languages?.node ?? null],
      ],
      text: languages?.text ?? '',
    }
  }

  /** A list (RDF Schema, section 5.2). */
  private list(items: readonly string[]): { readonly node: string; readonly text: string } {
    const nodes = items.map(() => this.blank())
    const lines = items.map((item, at) =>
      t(nodes[at] ?? '', [
        ['rdf:first', item],
        ['rdf:rest', nodes[at + 1] ?? name('rdf:nil')],
      ]),
    )
    return { node: nodes[0] ?? name('rdf:nil'), text: lines.join('') }
  }

  private blank(): string {
    this.blanks += 1
    return `_:b${this.blanks}`
  }
}
