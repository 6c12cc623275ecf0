import { XSD } from '../../rdf/vocab.ts'
import type { Expression, Pattern, SelectQuery } from '../../sparql/algebra.ts'
import { binary, bind, call, filter, iri, not, variable } from '../../sparql/build.ts'
import type { TypeOf } from './features.ts'

const NUMBERS: ReadonlySet<string> = new Set([XSD.integer, XSD.decimal, XSD.double, XSD.boolean])

/**
 * A query in which numbers and booleans in patterns match terms and not values: some engines find `"1"^^xsd:integer` for
 * `true`, and give what was asked for as what was found. Where a predicate has values of one type, there is nothing to do.
 */
export function withDatatypes(query: SelectQuery, typeOf: TypeOf): SelectQuery {
  let named = 0
  return rewriteTriples(query, triple => {
    const { object, predicate } = triple
    if (object.type !== 'literal' || !NUMBERS.has(object.datatype)) return null
    if (predicate.type === 'iri' && typeOf(predicate.value) === object.datatype) return null
    const [found, datatype] = [variable(`exact${named}`), variable(`datatype${named}`)]
    named += 1
    // Bound apart, for in one filter with the comparison the engine puts the constant in place of what it found.
    const isSame = binary('=', datatype, iri(object.datatype))
    return {
      triple: { ...triple, object: found },
      tests: [
        bind(call('DATATYPE', found), datatype),
        filter(binary('&&', binary('=', found, object), isSame)),
      ],
    }
  })
}

/** Predicates that Fuseki takes for functions and not for what is stored. */
const FUNCTIONS =
  /^(?:http:\/\/www\.opengis\.net\/ont\/geosparql#|http:\/\/jena\.(?:apache\.org|hpl\.hp\.com)\/|http:\/\/www\.w3\.org\/2005\/xpath-functions|java:)/

/** A query that finds triples with such predicates. */
export function withoutPropertyFunctions(query: SelectQuery): SelectQuery {
  let named = 0
  return rewriteTriples(query, triple => {
    const { predicate } = triple
    if (predicate.type !== 'iri' || !FUNCTIONS.test(predicate.value)) return null
    const found = variable(`predicate${named++}`)
    return { triple: { ...triple, predicate: found }, tests: [filter(binary('=', found, predicate))] }
  })
}

type TriplePatternNode = Extract<Pattern, { readonly type: 'triple' }>

/** A query with some of its triple patterns replaced, and tests beside them; null leaves one as it is. */
function rewriteTriples(
  query: SelectQuery,
  rewrite: (
    triple: TriplePatternNode,
  ) => { readonly triple: TriplePatternNode; readonly tests: readonly Pattern[] } | null,
): SelectQuery {
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.flatMap(each => spread(each))
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, visit(value)]))
  }
  const spread = (node: unknown): readonly unknown[] => {
    const pattern = node as Pattern | null
    if (typeof pattern !== 'object' || pattern === null || pattern.type !== 'graph') return [visit(node)]
    const tests: Pattern[] = []
    const patterns = pattern.patterns.map(each => {
      const rewritten = each.type === 'triple' ? rewrite(each) : null
      if (rewritten === null) return each
      tests.push(...rewritten.tests)
      return rewritten.triple
    })
    return [{ ...pattern, patterns }, ...tests]
  }
  return visit(query) as SelectQuery
}

/** A query that says `not after` a day in place of `until` it, of which Virtuoso finds some or none. */
export function withoutDaysUntil(query: SelectQuery): SelectQuery {
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit)
    if (typeof node !== 'object' || node === null) return node
    const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, visit(value)]))
    const expression = copy as unknown as Expression
    if (expression.type !== 'binary') return copy
    const { operator, left, right } = expression
    const isUntil = operator === '<=' && right.type === 'literal' && right.datatype === XSD.date
    const isFrom = operator === '>=' && left.type === 'literal' && left.datatype === XSD.date
    if (isUntil) return not(binary('>', left, right))
    return isFrom ? not(binary('>', right, left)) : copy
  }
  return visit(query) as SelectQuery
}
