/** Random property paths, and patterns with the same solutions that leave nothing but closures to the path evaluation of an engine. */
import { between, pick, times } from './random.ts'

type RandomPath =
  | { readonly type: 'link'; readonly iri: string }
  | { readonly type: 'negated'; readonly forward: readonly string[]; readonly backward: readonly string[] }
  | { readonly type: 'inverse'; readonly path: RandomPath }
  | { readonly type: 'sequence' | 'alternative'; readonly paths: readonly RandomPath[] }
  | { readonly type: 'closure'; readonly path: RandomPath; readonly sign: string }

const LINKS = ['link', 'link', 'link', 'part', 'part', 'type', 'any', 'int'].map(
  name => `<http://example.org/${name}>`,
)

function makePath(depth: number): RandomPath {
  const inner = () => makePath(depth - 1)
  switch (depth <= 0 ? between(0, 2) : between(0, 11)) {
    case 3:
    case 4:
      return { type: 'sequence', paths: times(pick([2, 2, 3]), inner) }
    case 5:
    case 6:
      return { type: 'alternative', paths: times(pick([2, 2, 3]), inner) }
    case 7:
      return { type: 'inverse', path: inner() }
    case 8: {
      const [forward, backward] = pick([[1, 0] as const, [2, 0] as const, [0, 1] as const, [2, 1] as const])
      const links = (count: number) => times(count, () => pick(LINKS))
      return { type: 'negated', forward: links(forward), backward: links(backward) }
    }
    case 9:
    case 10:
    case 11:
      return { type: 'closure', path: inner(), sign: pick(['*', '+', '+', '?']) }
    default:
      return { type: 'link', iri: pick(LINKS) }
  }
}

function textOf(path: RandomPath): string {
  // Brackets are needed around every path but a link within another; some are left out where they change nothing.
  const inner = (each: RandomPath) => (each.type === 'link' ? textOf(each) : `(${textOf(each)})`)
  switch (path.type) {
    case 'link':
      return path.iri
    case 'negated':
      return `!(${[...path.forward, ...path.backward.map(iri => `^${iri}`)].join('|')})`
    case 'inverse':
      return `^${inner(path.path)}`
    case 'closure':
      return `${inner(path.path)}${path.sign}`
    case 'sequence':
      return path.paths.map(each => (each.type === 'closure' ? textOf(each) : inner(each))).join('/')
    case 'alternative':
      return path.paths.map(each => (each.type === 'sequence' ? textOf(each) : inner(each))).join('|')
  }
}

/** The patterns of a path (SPARQL 1.1 Query, section 18.2.2.4 and 18.4): an alternative is a union, a negated set a condition. */
function expanded(path: RandomPath, subject: string, object: string, hidden: () => string): string {
  const union = (parts: readonly string[]) => parts.map(part => `{ ${part} }`).join(' UNION ')
  switch (path.type) {
    case 'link':
      return `${subject} ${path.iri} ${object} .`
    case 'inverse':
      return expanded(path.path, object, subject, hidden)
    case 'closure':
      return `${subject} ${textOf(path)} ${object} .`
    case 'sequence': {
      const ends = [subject, ...path.paths.slice(1).map(hidden), object]
      return path.paths
        .map((each, at) => expanded(each, ends[at] as string, ends[at + 1] as string, hidden))
        .join(' ')
    }
    case 'alternative':
      return union(path.paths.map(each => expanded(each, subject, object, hidden)))
    case 'negated': {
      const other = (iris: readonly string[], from: string, to: string) => {
        if (iris.length === 0) return []
        const name = hidden()
        return [`${from} ${name} ${to} FILTER(${name} NOT IN (${iris.join(', ')}))`]
      }
      return union([...other(path.forward, subject, object), ...other(path.backward, object, subject)])
    }
  }
}

/** The paths of the query that is being made. */
const paths: RandomPath[] = []

/** Where a path is in a random text: its ends stay readable there, and may be renamed. */
const PLACE = /⟦(\S+) (\d+) (\S+)⟧/g

/** A pattern of a random path, as its place in a text of which {@link withPaths} makes queries. */
export function pathPlace(subject: string, object: string): string {
  return `⟦${subject} ${paths.push(makePath(pick([1, 1, 2, 2, 3]))) - 1} ${object}⟧`
}

/** Prefix of the variables by which {@link withPaths} expands paths. */
export const HIDDEN = 'hidden_'

/** A text with its paths, and with what they mean where no path is but closures. */
export function withPaths(text: string): { readonly text: string; readonly expanded: string } {
  let fresh = 0
  const hidden = () => `?${HIDDEN}${fresh++}`
  const replaced = (patternOf: (path: RandomPath, subject: string, object: string) => string) =>
    text.replace(PLACE, (_, subject: string, place: string, object: string) =>
      patternOf(paths[Number(place)] as RandomPath, subject, object),
    )
  const found = {
    text: replaced((path, subject, object) => `${subject} ${textOf(path)} ${object} .`),
    expanded: replaced((path, subject, object) => expanded(path, subject, object, hidden)),
  }
  paths.length = 0
  return found
}
