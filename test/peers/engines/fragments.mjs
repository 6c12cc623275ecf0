import { Parser } from 'n3'

/** Walks all pages of a fragment: its triples, and the number of all that each page tells. */

const HYDRA = 'http://www.w3.org/ns/hydra/core#'
const DATA_GRAPH = 'DefaultGraph'

function termText(term) {
  if (term.termType !== 'Literal') return `${term.termType[0]}${term.value}`
  return JSON.stringify([term.value, term.language || term.datatype.value])
}

/**
 * All pages of a fragment, by following hydra:next.
 *
 * @param get asks for a path and gives { status, body }
 * @returns triples (sorted texts), twice (texts that came more than once), counts (told totals, each once), pages
 * @throws an Error with the status of a page that is none
 */
export async function walkFragment(get, path, base) {
  const triples = []
  const counts = new Set()
  let pages = 0
  for (let next = path; next !== undefined; ) {
    const { status, body } = await get(next, { accept: 'application/trig' })
    if (status !== 200)
      throw new Error(`page ${pages + 1} ${next}: ${status} ${body.toString().slice(0, 300)}`)
    const quads = new Parser({ format: 'TriG' }).parse(body.toString())
    pages += 1
    next = undefined
    for (const { subject, predicate, object, graph } of quads) {
      if (graph.termType === DATA_GRAPH) triples.push([subject, predicate, object].map(termText).join(' '))
      else if (predicate.value === `${HYDRA}totalItems`) counts.add(Number(object.value))
      else if (predicate.value === `${HYDRA}next`) next = object.value.replace(base, '')
    }
  }
  triples.sort()
  const twice = triples.filter((triple, index) => triple === triples[index - 1])
  return { triples, twice, counts: [...counts], pages }
}

/** Where two walks part; null where they found the same. */
export function walkDifference(left, right) {
  if (right.twice.length > 0)
    return { path: 'triples on two pages', left: left.twice[0], right: right.twice[0] }
  const missing = left.triples.find((triple, index) => right.triples[index] !== triple)
  if (missing !== undefined || left.triples.length !== right.triples.length) {
    const there = new Set(right.triples)
    const here = new Set(left.triples)
    return {
      path: `triples (${left.triples.length} and ${right.triples.length})`,
      left: left.triples.filter(triple => !there.has(triple)).slice(0, 2),
      right: right.triples.filter(triple => !here.has(triple)).slice(0, 2),
    }
  }
  if (left.counts.join() !== right.counts.join())
    return { path: 'totalItems', left: left.counts, right: right.counts }
  if (left.pages !== right.pages) return { path: 'pages', left: left.pages, right: right.pages }
  return null
}

/** Patterns of triples that a dataset has: each predicate, some subjects and objects, and what nothing matches. */
export function patternsOf(walk) {
  const rows = walk.triples.map(text => text.split(' '))
  const predicates = [...new Set(rows.map(([, predicate]) => predicate.slice(1)))]
  const every = Math.max(1, Math.floor(walk.triples.length / 40))
  const some = walk.triples.filter((_, index) => index % every === 0).map(partsOf)
  const objects = some.flatMap(({ predicate, object }, index) => [
    { object },
    ...(index % 3 === 0 ? [{ predicate, object }] : []),
  ])
  const subjects = some.flatMap(({ subject, predicate }, index) =>
    index % 2 === 0 ? [{ subject }, { subject, predicate }] : [],
  )
  const whole = some.filter((_, index) => index % 5 === 0)
  return [
    ...predicates.map(predicate => ({ predicate })),
    ...subjects,
    ...objects,
    ...whole,
    { predicate: 'http://nothing.example/' },
    { object: '"nothing of the kind"' },
    { object: '"5"^^http://www.w3.org/2001/XMLSchema#integer' },
    { object: '"5"' },
  ]
}

/** The parts of a triple as the parameters of a fragment write them. */
function partsOf(text) {
  const [subject, predicate] = text.split(' ', 2).map(part => part.slice(1))
  const object = text.slice(subject.length + predicate.length + 4)
  if (!object.startsWith('[')) return { subject, predicate, object: object.slice(1) }
  const [value, type] = JSON.parse(object)
  const suffix = type.includes(':') ? `^^${type}` : `@${type}`
  return { subject, predicate, object: `"${value}"${suffix}` }
}
