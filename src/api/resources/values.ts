import { type Html, html } from '../../http/html.ts'
import type { Triple } from '../../rdf/ntriples-reader.ts'
import { datasetPrefixes } from '../../rdf/prefixes.ts'
import type { Literal, Term } from '../../rdf/term.ts'
import { RDF, XSD } from '../../rdf/vocab.ts'
import { asciiAddress, SPACES } from './address.ts'
import { preferredName } from './dataset.ts'
import { lastSegment } from './document.ts'
import type { Names } from './gather.ts'

export interface ValueContext {
  readonly base: string
  readonly names: Names
  /** Triples of nodes that are shown where they are referred to, by their IRIs. */
  readonly nested: ReadonlyMap<string, readonly Triple[]>
  /** Label by predicate IRI. */
  readonly labels: ReadonlyMap<string, string>
  /** The prefixes under which the dataset's triples are written. */
  readonly prefixes: Readonly<Record<string, string>>
}

/** Longer texts are folded, still longer ones cut; in characters. */
const LONG = 400
const LONGEST = 20_000
/** Values of one property that are shown at once; the others are folded. */
const MANY = 30
/** How deep nodes are shown within nodes. */
const MAX_DEPTH = 4

/** Writes terms as HTML: links with the names of what they lead to, values with datatype and language, nodes in place. */
export class ValueWriter {
  private readonly context: ValueContext

  constructor(context: ValueContext) {
    this.context = context
  }

  /** A predicate by its label. */
  predicate(iri: string): Html {
    const { labels, names } = this.context
    const label = labels.get(iri) ?? preferredName(names.get(iri) ?? []) ?? lastSegment(iri)
    return html`<a href="${asciiAddress(iri)}" title="${iri}">${label}</a>`
  }

  /** The values of a property; more than so many are folded. */
  list(terms: readonly Term[], depth = 0, many = MANY): Html {
    const items = terms.map(term => html`<li>${this.value(term, depth)}</li>`)
    if (terms.length <= many) return html`<ul class="plain">${items}</ul>`
    return html`<ul class="plain">${items.slice(0, many)}</ul><details><summary>${terms.length - many} more</summary><ul class="plain">${items.slice(many)}</ul></details>`
  }

  /** One value. */
  value(term: Term, depth = 0): Html {
    switch (term.type) {
      case 'iri':
        return this.resource(term.value, depth)
      case 'blank':
        return html`<span>_:${term.value}</span>`
      case 'literal':
        return literalHtml(term)
      default:
        return term satisfies never
    }
  }

  private resource(iri: string, depth: number): Html {
    const { base, nested, names, prefixes } = this.context
    const triples = nested.get(iri)
    if (triples !== undefined && depth < MAX_DEPTH) return this.node(iri, triples, depth)
    const name = preferredName(names.get(iri) ?? [])
    if (iri.startsWith(base + SPACES.nodes.things))
      return html`<a class="node" href="${asciiAddress(iri)}">${name ?? 'a node without name'}</a>`
    if (!/^(?:https?|mailto|tel|geo|urn|doi):/i.test(iri)) return html`<span>${iri}</span>`
    const address = asciiAddress(iri)
    if (name === undefined) return html`<a href="${address}">${shortIri(iri, base, prefixes)}</a>`
    return html`<a href="${address}" title="${iri}">${name}</a>`
  }

  private node(iri: string, triples: readonly Triple[], depth: number): Html {
    const cells = this.listCells(iri)
    if (cells !== null)
      return html`<ol>${cells.map(cell => html`<li>${this.value(cell, depth + 1)}</li>`)}</ol>`
    const groups = new Map<string, Term[]>()
    for (const { predicate, object } of triples)
      groups.set(predicate.value, [...(groups.get(predicate.value) ?? []), object])
    return html`<dl class="nested"><dd class="self"><a class="node" href="${asciiAddress(iri)}">${lastSegment(iri)}</a></dd>${[
      ...groups,
    ].map(
      ([predicate, objects]) =>
        html`<dt>${this.predicate(predicate)}</dt><dd>${this.list(objects, depth + 1)}</dd>`,
    )}</dl>`
  }

  /** The members of a collection (RDF Schema 1.1, section 5.2); null for any other node. */
  private listCells(iri: string): readonly Term[] | null {
    const { nested } = this.context
    const cells: Term[] = []
    const seen = new Set<string>()
    let at = iri
    while (at !== RDF.nil && !seen.has(at)) {
      seen.add(at)
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

/** Vocabularies whose names people know by their prefixes. */
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

/** An IRI as people read it: by its prefix, within the portal by its path; a long one is cut in the middle. */
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

function literalHtml({ value, datatype, language }: Literal): Html {
  if (language !== '') {
    const [tag = '', direction] = language.split('--')
    const text = longText(value)
    return direction === undefined
      ? html`<span lang="${tag}">${text}</span> <small>${language}</small>`
      : html`<span lang="${tag}" dir="${direction}">${text}</span> <small>${language}</small>`
  }
  if (datatype === XSD.string)
    return /^https?:\/\/[^\s<>"]+$/.test(value) ? html`<a href="${value}">${value}</a>` : longText(value)
  const kind = html`<small title="${datatype}">${lastSegment(datatype)}</small>`
  if (datatype === XSD.dateTime || datatype === XSD.date)
    return html`<time datetime="${value}">${value}</time> ${kind}`
  return html`${longText(value)} ${kind}`
}

function longText(value: string): Html {
  if (value.length <= LONG) return html`<span class="text">${value}</span>`
  const cut = value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value
  return html`<details><summary class="text">${value.slice(0, 160)}… <small>${value.length.toLocaleString('en-GB')} characters</small></summary><span class="text">${cut}</span></details>`
}
