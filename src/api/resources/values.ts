import { toGeoPoint } from '../../model/geometry.ts'
import { lookup } from '../../model/lookup.ts'
import { memoised } from '../../model/memoised.ts'
import { shownDigits } from '../../model/number.ts'
import type { Triple } from '../../rdf/ntriples-reader.ts'
import { datasetPrefixes } from '../../rdf/prefixes.ts'
import type { Literal, Term } from '../../rdf/term.ts'
import { GEO, RDF, XSD } from '../../rdf/vocab.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { asciiAddress, SPACES } from './address.ts'
import { preferredName } from './dataset.ts'
import { type DocumentRequest, type Gathered, lastSegment } from './document.ts'
import type { DocumentFormat } from './formats.ts'
import type { LabelNames } from './gather.ts'

/** The input of a page about a thing. */
export interface ResourcePage {
  readonly pageContext: PageContext
  readonly base: string
  readonly gathered: Gathered
  readonly requested: DocumentRequest
  /** Address of the document in any format, and the format that the requested address fixes. */
  readonly document: string
  readonly suffix: DocumentFormat | null
  /** The same document as JSON-LD, without the triple terms that it cannot express, for programs that read pages. */
  readonly jsonld: string
}

export interface ValueContext {
  readonly base: string
  readonly names: LabelNames
  /** Triples of nodes that are shown inline, by their IRIs. */
  readonly nested: ReadonlyMap<string, readonly Triple[]>
  /** Label by predicate IRI. */
  readonly labels: ReadonlyMap<string, string>
  readonly prefixes: Readonly<Record<string, string>>
  readonly pageContext: PageContext
}

/** Number of values of one property that are visible; the others are collapsed. */
const MAX_VISIBLE = 30
/** Maximum depth of nodes that are shown within nodes. */
const MAX_DEPTH = 4

/** Writes terms as HTML: links with the names of their targets, values with datatype and language, nodes inline. */
export class ValueWriter {
  private readonly context: ValueContext

  constructor(context: ValueContext) {
    this.context = context
  }

  /** The label of a resource: a name in the language of the page, else the end of its IRI. */
  label(iri: string): string {
    const { base, names, prefixes, pageContext } = this.context
    const name = preferredName(names.get(iri) ?? [], pageContext.language)
    if (name !== undefined) return name
    return iri.startsWith(base + SPACES.nodes.things)
      ? pageContext.t('a node without name')
      : shortIri(iri, base, prefixes)
  }

  /** The link target of an IRI: within this portal it keeps the language of the address. */
  address(iri: string): string {
    const { base, pageContext } = this.context
    const [, query = ''] = pageContext.href('/').split('?')
    const isOurs = query !== '' && iri.startsWith(`${base}/`) && !/[?#]/.test(iri)
    return isOurs ? `${asciiAddress(iri)}?${query}` : asciiAddress(iri)
  }

  predicateLabel(iri: string): string {
    const { labels, names, pageContext } = this.context
    return labels.get(iri) ?? preferredName(names.get(iri) ?? [], pageContext.language) ?? termName(iri)
  }

  /** A predicate by its label, with its name in its vocabulary if that differs. */
  predicate(iri: string): Html {
    const { base, prefixes } = this.context
    const label = this.predicateLabel(iri)
    const short = shortIri(iri, base, prefixes)
    const isReported = short === iri || short.startsWith('/') || short.endsWith(`:${label}`)
    return html`<a href="${this.address(iri)}" title="${iri}">${label}</a>${isReported ? '' : html` <small>${short}</small>`}`
  }

  /** The values of a property; those beyond a number are collapsed. Equal names are distinguished by their IRIs. */
  list(terms: readonly Term[], predicate: string, depth = 0, many = MAX_VISIBLE): Html {
    const called = new Map<string, number>()
    const nameOf = (term: Term) => (term.type === 'iri' ? this.label(term.value) : '')
    for (const term of terms) called.set(nameOf(term), (called.get(nameOf(term)) ?? 0) + 1)
    const items = terms.map(term => {
      const isOneOfMany = term.type === 'iri' && (called.get(nameOf(term)) ?? 0) > 1
      const apart = isOneOfMany ? html` <small>${lastSegment(term.value)}</small>` : ''
      return html`<li>${this.value(term, predicate, depth)}${apart}</li>`
    })
    if (terms.length <= many) return html`<ul class="plain">${items}</ul>`
    const { t } = this.context.pageContext
    return html`<ul class="plain">${items.slice(0, many)}</ul><details><summary>${t.many('{n} more', '{n} more', terms.length - many)}</summary><ul class="plain">${items.slice(many)}</ul></details>`
  }

  value(term: Term, predicate = '', depth = 0): Html {
    switch (term.type) {
      case 'iri':
        return this.resource(term.value, depth)
      case 'blank':
        return html`<span>_:${term.value}</span>`
      case 'triple':
        return html`<span class="triple">«${this.value(term.subject, '', MAX_DEPTH)} ${this.value(term.predicate, '', MAX_DEPTH)} ${this.value(term.object, term.predicate.value, MAX_DEPTH)}»</span>`
      case 'literal':
        return literalHtml(term, lastSegment(predicate), this.context.pageContext)
    }
  }

  private resource(iri: string, depth: number): Html {
    const { base, nested } = this.context
    const triples = nested.get(iri)
    if (triples !== undefined && depth < MAX_DEPTH) return this.node(iri, triples, depth)
    const label = this.label(iri)
    if (iri.startsWith(base + SPACES.nodes.things))
      return html`<a class="node" href="${this.address(iri)}">${label}</a>`
    if (!isAddress(iri)) return html`<span>${iri}</span>`
    return html`<a href="${this.address(iri)}" title="${iri}">${label}</a>`
  }

  private node(iri: string, triples: readonly Triple[], depth: number): Html {
    const cells = this.listCells(iri)
    if (cells !== null)
      return html`<ol>${cells.map(cell => html`<li>${this.value(cell, '', depth + 1)}</li>`)}</ol>`
    const properties = objectsByPredicate(triples).map(
      ([predicate, objects]) =>
        html`<dt>${this.predicate(predicate)}</dt><dd>${this.list(objects, predicate, depth + 1)}</dd>`,
    )
    return html`<div class="nested"><a class="node" href="${this.address(iri)}">${lastSegment(iri)}</a>${properties.length === 0 ? '' : html`<dl>${properties}</dl>`}</div>`
  }

  /** The members of a collection (RDF Schema 1.1, section 5.2); null for any other node. */
  private listCells(iri: string): readonly Term[] | null {
    const { nested } = this.context
    const cells: Term[] = []
    const visible = new Set<string>()
    let at = iri
    while (at !== RDF.nil && !visible.has(at)) {
      visible.add(at)
      const triples = nested.get(at)
      const first = triples?.find(({ predicate }) => predicate.value === RDF.first)?.object
      const rest = triples?.find(({ predicate }) => predicate.value === RDF.rest)?.object
      if (first === undefined || rest?.type !== 'iri') {
        if (cells.length === 0) return null
        cells.push({ type: 'iri', value: at })
        break
      }
      cells.push(first)
      at = rest.value
    }
    return cells
  }
}

/** The objects of triples by their predicates, in the order in which these occur. */
export function objectsByPredicate(
  triples: readonly Triple[],
): readonly (readonly [string, readonly Term[]])[] {
  const groups = new Map<string, Term[]>()
  for (const { predicate, object } of triples) memoised(groups, predicate.value, () => []).push(object)
  return [...groups]
}

const PREFIXES: readonly (readonly [namespace: string, prefix: string])[] = [
  ...Object.entries(datasetPrefixes('', '')).filter(([, namespace]) => namespace.startsWith('http')),
  ['dcat', 'http://www.w3.org/ns/dcat#'],
  ['owl', 'http://www.w3.org/2002/07/owl#'],
  ['skos', 'http://www.w3.org/2004/02/skos/core#'],
  ['schema', 'http://schema.org/'],
  ['schema', 'https://schema.org/'],
  ['sosa', 'http://www.w3.org/ns/sosa/'],
  ['prov', 'http://www.w3.org/ns/prov#'],
].map(([prefix = '', namespace = '']) => [namespace, prefix])

/** An IRI for display: with its prefix, within the portal as its path; a long one is truncated in the middle. */
function shortIri(iri: string, base: string, own: ValueContext['prefixes']): string {
  const foreign = Object.entries(own).filter(([, namespace]) => !namespace.startsWith(base))
  const known = [...PREFIXES, ...foreign.map(([prefix, namespace]) => [namespace, prefix] as const)]
  for (const [namespace, prefix] of known) {
    const local = iri.slice(namespace.length)
    if (iri.startsWith(namespace) && /^[\w-]+$/.test(local)) return `${prefix}:${local}`
  }
  const short = iri.startsWith(`${base}/`) ? iri.slice(base.length) : iri
  return short.length <= 90 ? short : `${short.slice(0, 50)}…${short.slice(-35)}`
}

/** Only such IRIs become links: `javascript:` is an IRI too. */
export function isAddress(iri: string): boolean {
  return /^(?:https?|mailto|tel|geo|urn|doi):/i.test(iri)
}

/** Labels of vocabulary terms that differ from the end of the IRI. */
const NAMES: Readonly<Record<string, string>> = {
  'http://www.wikidata.org/prop/direct/P240': 'FAA airport code',
  'http://www.wikidata.org/prop/direct/P297': 'ISO 3166-1 alpha-2 code',
  'http://www.wikidata.org/prop/direct/P298': 'ISO 3166-1 alpha-3 code',
  'http://www.wikidata.org/prop/direct/P299': 'ISO 3166-1 numeric code',
  'http://www.wikidata.org/prop/direct/P487': 'Unicode character',
  'http://www.wikidata.org/prop/direct/P1448': 'official name',
  'http://www.wikidata.org/prop/direct/P2046': 'area in square kilometres',
  'http://www.wikidata.org/prop/direct/P2130': 'cost',
  'http://www.wikidata.org/prop/direct/P2142': 'box office',
  'http://www.opengis.net/ont/geosparql#sfTouches': 'touches',
  'http://www.opengis.net/ont/geosparql#sfWithin': 'within',
  'http://www.opengis.net/ont/geosparql#asWKT': 'position as WKT',
}

/** The readable label of a vocabulary term: `alternateName` becomes "alternate name". */
export function termName(iri: string): string {
  const known = lookup(NAMES, iri)
  if (known !== undefined) return known
  const end = lastSegment(iri)
  return /^[a-z]+(?:[A-Z][a-z]+)+$/.test(end)
    ? end.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
    : end.replaceAll('_', ' ')
}

/** Longer texts are collapsed, still longer ones truncated; in characters. */
const COLLAPSED_LENGTH = 400
const MAX_LENGTH = 20_000

/** The numbers of XML Schema, by the ends of their IRIs. */
const NUMBER =
  /#(?:integer|decimal|double|float|int|long|short|byte|(?:non)?(?:Positive|Negative|positive|negative)Integer|unsigned\w+)$/

/**
 * A value in the notation of a language, with its datatype or language.
 *
 * @param name of the property: a number called a year, code or id is a name and no quantity
 */
export function literalHtml(
  { value, datatype, language }: Literal,
  name: string,
  pageContext: PageContext,
): Html {
  if (language !== '') {
    const [tag = '', direction] = language.split('--')
    const text = longText(value, pageContext)
    return direction === undefined
      ? html`<span lang="${tag}">${text}</span> <small>${language}</small>`
      : html`<span lang="${tag}" dir="${direction}">${text}</span> <small>${language}</small>`
  }
  if (datatype === XSD.string)
    return /^https?:\/\/[^\s<>"]+$/.test(value)
      ? html`<a href="${value}" rel="nofollow">${value}</a>`
      : longText(value, pageContext)
  return html`${typedText(value, datatype, name, pageContext)} <small title="${datatype}">${lastSegment(datatype)}</small>`
}

function typedText(value: string, datatype: string, name: string, pageContext: PageContext): Html {
  switch (datatype) {
    case XSD.date:
      return html`<time datetime="${value}">${pageContext.date(value)}</time>`
    case XSD.dateTime:
      return html`<time datetime="${value}" title="${value}">${pageContext.date(/(?:Z|[+-]\d\d:\d\d)$/.test(value) ? value : `${value}Z`, 'moment')}</time>`
    case XSD.boolean:
      return html`<data value="${value}">${value === 'true' || value === '1' ? pageContext.t('yes') : pageContext.t('no')}</data>`
    case GEO.wktLiteral: {
      const point = /^\s*POINT/i.test(value) ? toGeoPoint(value) : undefined
      if (point === undefined || point === null) return longText(value, pageContext)
      const part = (degrees: number) => pageContext.number(degrees, { maximumFractionDigits: 5 })
      return html`<span title="${value}">${part(point.lat)}°, ${part(point.lon)}°</span>`
    }
    default:
      return NUMBER.test(datatype)
        ? html`<data value="${value}">${numberText(value, name, pageContext)}</data>`
        : longText(value, pageContext)
  }
}

function numberText(value: string, name: string, { number }: PageContext): string {
  const read = Number(value)
  const isName = /(?:^|_)(?:id|code|year)$|(?:Id|ID|Code|Year)$/.test(name)
  if (isName || !Number.isFinite(read) || value.length > 17) return value
  return number(read, shownDigits(read, 10))
}

/** A text, collapsed if it is long; of texts in HTML only the words are shown. */
function longText(text: string, { t }: PageContext): Html {
  const value = /^\s*<(?:p|div)[\s>]/i.test(text) ? text.replace(/<[^<>]*>/g, ' ').trim() : text
  if (value.length <= COLLAPSED_LENGTH) return html`<span class="text" dir="auto">${value}</span>`
  const cut = value.length > MAX_LENGTH ? `${value.slice(0, MAX_LENGTH)}…` : value
  return html`<details><summary class="text">${value.slice(0, 160)}… <small>${t.many('{n} character', '{n} characters', value.length)}</small></summary><span class="text" dir="auto">${cut}</span></details>`
}
