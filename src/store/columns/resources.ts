import type { BlankNode, NamedNode, Term } from '../../rdf/term.ts'
import { compareBytes } from './bytes.ts'
import { behindPrefix, TermBytes } from './dictionary-texts.ts'
import type { ResourcesHeader } from './file-layout.ts'
import { openSegment, type ResourceRun } from './resource-segments.ts'
import type { SectionSource } from './sections.ts'

/** Texts of two graphs that are being compared. */
const [OWN, OTHER] = [new TermBytes(), new TermBytes()]

/** A run of resources, the number of resources before it, and its first and last text. */
interface Segment {
  readonly run: ResourceRun
  readonly before: number
  readonly count: number
  readonly isBlank: boolean
  readonly first: Buffer
  readonly last: Buffer
}

/** The IRIs and blank nodes of a graph, numbered from 1 in sort order (file-layout.ts). */
export class Resources {
  readonly count: number
  readonly blanks: number
  readonly segments: readonly Segment[]
  /** The last text that was looked up, and its number: a query looks up the same one in several columns. */
  private last: { readonly text: string; readonly number: number } = { text: '', number: 0 }

  constructor(header: ResourcesHeader, source: SectionSource) {
    this.count = header.count
    this.blanks = header.blanks
    let before = 0
    this.segments = header.segments.map(segment => {
      const [first, last] = [Buffer.from(segment.first), Buffer.from(segment.last)]
      const { count } = segment
      const run = openSegment(segment, source)
      const opened = { run, before, count, isBlank: before < header.blanks, first, last }
      before += count
      return opened
    })
  }

  /** The text of a resource: an IRI, or a blank node with its `_:`. */
  text(id: number): string {
    const { run, before } = this.segmentOf(id)
    return run.text(id - 1 - before)
  }

  private segmentOf(id: number): Segment {
    const { segments } = this
    let number = 0
    while (number + 1 < segments.length && (segments[number + 1] as Segment).before < id) number++
    return segments[number] as Segment
  }

  /** Returns the location of the text of a resource, valid until another is read. */
  bytes(id: number, found: TermBytes): void {
    const { run, before } = this.segmentOf(id)
    run.bytesOf(id - 1 - before, found)
    found.type = id <= this.blanks ? 'blank' : 'iri'
    if (found.type === 'blank') found.from += 2
    found.datatype = ''
    found.language = ''
  }

  term(id: number): NamedNode | BlankNode {
    const text = this.text(id)
    return id <= this.blanks ? { type: 'blank', value: text.slice(2) } : { type: 'iri', value: text }
  }

  /** False where no text can be in both: only compares the bounds of segments. */
  overlaps(other: Resources): boolean {
    return this.segments.some(own =>
      other.segments.some(
        ({ isBlank, first, last }) =>
          own.isBlank === isBlank &&
          Buffer.compare(own.first, last) <= 0 &&
          Buffer.compare(first, own.last) <= 0,
      ),
    )
  }

  /** The number of a term; 0 where the graph lacks it, and for a term that is not a resource. */
  findTerm(term: Term): number {
    if (term.type === 'iri') return this.find(term.value)
    return term.type === 'blank' ? this.find(`_:${term.value}`) : 0
  }

  /** The number of a resource; 0 where the graph lacks it. */
  find(text: string): number {
    if (this.last.text !== text) this.last = { text, number: this.numberOf(text) }
    return this.last.number
  }

  private numberOf(text: string): number {
    const { number, found } = this.placeOf(Buffer.from(text), text.startsWith('_:'))
    return found ? number : 0
  }

  /** The number of a resource in another graph; 0 where that graph lacks it. */
  numberIn(other: Resources, id: number): number {
    const { run, before } = this.segmentOf(id)
    run.bytesOf(id - 1 - before, OWN)
    const text = (OWN.bytes as Buffer).subarray(OWN.from, OWN.to)
    const { number, found } = other.placeOf(text, id <= this.blanks)
    return found ? number : 0
  }

  /** The numbers of all resources in another graph, by number: both graphs are read once, in order. */
  numbersIn(other: Resources): Uint32Array {
    const numbers = new Uint32Array(this.count + 1)
    for (let [own, next] = [1, 1]; own <= this.count && next <= other.count; ) {
      this.bytes(own, OWN)
      other.bytes(next, OTHER)
      const order =
        OWN.type === OTHER.type
          ? compareBytes(OWN.bytes, OWN.from, OWN.to, OTHER.bytes, OTHER.from, OTHER.to)
          : OWN.type === 'blank'
            ? -1
            : 1
      if (order === 0) numbers[own] = next
      if (order <= 0) own++
      if (order >= 0) next++
    }
    return numbers
  }

  /** The number of the first resource that is not before a text, blank nodes before IRIs; if there is none, one more than the last. */
  lowerBound(text: string): number {
    return this.placeOf(Buffer.from(text), text.startsWith('_:')).number
  }

  /** The range of numbers of the IRIs with a prefix; the end is exclusive. */
  rangeOfPrefix(prefix: string): readonly [from: number, to: number] {
    if (prefix === '') return [this.blanks + 1, this.count + 1]
    const bytes = Buffer.from(prefix)
    return [this.placeOf(bytes, false).number, this.placeOf(behindPrefix(bytes), false).number]
  }

  private placeOf(bytes: Buffer, isBlank: boolean): { readonly number: number; readonly found: boolean } {
    // Blank nodes and IRIs are in separate segments.
    const candidate = this.segments.findLast(
      segment => segment.isBlank === isBlank && Buffer.compare(segment.first, bytes) <= 0,
    )
    if (candidate === undefined) return { number: isBlank ? 1 : this.blanks + 1, found: false }
    const { run, before, count, last } = candidate
    if (Buffer.compare(bytes, last) > 0) return { number: before + count + 1, found: false }
    const { index, found } = run.find(bytes)
    return { number: before + index + 1, found }
  }
}

/**
 * For each of several graphs, those before it of which {@link Resources.overlaps} is true: found in the order of their bounds, for
 * a portal may have more pairs of graphs than time to compare them.
 */
export function overlapsBefore(graphs: readonly Resources[]): readonly ReadonlySet<number>[] {
  const found = graphs.map(() => new Set<number>())
  const spans = graphs
    .flatMap(({ segments }, at) => segments.map(each => ({ ...each, at })))
    .sort((a, b) => Number(a.isBlank) - Number(b.isBlank) || Buffer.compare(a.first, b.first))
  let open: typeof spans = []
  for (const span of spans) {
    open = open.filter(
      ({ isBlank, last }) => isBlank === span.isBlank && Buffer.compare(span.first, last) <= 0,
    )
    for (const { at } of open) if (at !== span.at) found[Math.max(at, span.at)]?.add(Math.min(at, span.at))
    open.push(span)
  }
  return found
}
