import type { WrittenTriple } from '../mapping/triple-text.ts'
import { LineSet } from '../rdf/line-set.ts'

type Sink = Pick<WrittenTriple, 'add'>

/** What is known of subjects that several records share, passed from one attempt to write a graph to the next. */
export interface SharedSubjects {
  /** Prefixes of the subjects of the rules, the longest first. */
  readonly heads: readonly string[]
  /** The prefixes with a repeated subject. */
  readonly shared: Set<string>
}

/** How a mapping writes the triples of a record. */
export interface RecordPresentation {
  /** Lines that are added together may state the same triple of one subject twice. */
  readonly mayRepeat: boolean
  /** Lines that are added together have one subject. */
  readonly hasOneSubject: boolean
}

/** The triples of one subject in a record. */
interface Group {
  lines: string
  count: number
  /** True if several rules write it. */
  isMerged: boolean
}

/**
 * Writes every triple once. Nearly all subjects of a mapping belong to one record alone, so subjects are tracked rather than
 * their triples: a sixth of the work. When a subject is repeated, its prefix is marked as shared, the output may contain
 * duplicates from then on, and the graph must be written once more: the triples of shared prefixes are then deduplicated one by
 * one.
 */
export class DistinctTriples {
  /** True if a prefix was not known as shared: nothing more is written, but further shared prefixes are found. */
  needsRetry = false
  private readonly target: Sink
  private readonly subjects: SharedSubjects
  private readonly presentation: RecordPresentation
  private readonly written = new LineSet()
  private readonly lines = new LineSet()
  private readonly groups = new Map<string, Group>()

  constructor(target: Sink, subjects: SharedSubjects, presentation: RecordPresentation) {
    this.target = target
    this.subjects = subjects
    this.presentation = presentation
  }

  /** Adds whole lines of N-Triples about a record. */
  add(lines: string, triples: number): void {
    if (triples === 0) return
    if (this.presentation.hasOneSubject) {
      this.addToGroup(lines.slice(0, lines.indexOf(' ') + 1), lines, triples)
      return
    }
    for (let at = 0; at < lines.length; ) {
      const subject = lines.slice(at, lines.indexOf(' ', at) + 1)
      let end = at
      let count = 0
      do {
        end = lines.indexOf('\n', end) + 1
        count += 1
      } while (end < lines.length && lines.startsWith(subject, end))
      this.addToGroup(subject, at === 0 && end === lines.length ? lines : lines.slice(at, end), count)
      at = end
    }
  }

  /** Writes the triples of a record: the lines of a subject together, whichever rules created them. */
  end(): void {
    for (const [subject, group] of this.groups) this.letThrough(subject, group)
    this.groups.clear()
  }

  private addToGroup(subject: string, lines: string, count: number): void {
    const known = this.groups.get(subject)
    if (known === undefined) {
      this.groups.set(subject, { lines, count, isMerged: false })
      return
    }
    known.lines += lines
    known.count += count
    known.isMerged = true
  }

  private letThrough(subject: string, { lines, count, isMerged }: Group): void {
    const head = this.headOf(subject)
    if (this.subjects.shared.has(head)) {
      if (!this.needsRetry) this.addNew(lines, line => this.lines.add(line))
    } else if (!this.written.add(subject)) {
      this.subjects.shared.add(head)
      this.needsRetry = true
    } else if (this.needsRetry) {
      return
    } else if (count > 1 && (isMerged || this.presentation.mayRepeat)) {
      const own = new Set<string>()
      this.addNew(lines, line => own.size !== own.add(line).size)
    } else this.target.add(lines, count)
  }

  private addNew(lines: string, isNew: (line: string) => boolean): void {
    let text = ''
    let count = 0
    for (let at = 0; at < lines.length; ) {
      const end = lines.indexOf('\n', at) + 1
      const line = lines.slice(at, end)
      at = end
      if (!isNew(line)) continue
      text += line
      count += 1
    }
    if (count > 0) this.target.add(text, count)
  }

  private headOf(subject: string): string {
    const { heads } = this.subjects
    return heads.length < 2 ? (heads[0] ?? '') : (heads.find(head => subject.startsWith(head)) ?? '')
  }
}
