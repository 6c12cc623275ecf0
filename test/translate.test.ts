import t from 'tap'
import { parseQuery } from '../src/sparql/parse.ts'

const PREFIX = 'PREFIX : <urn:> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> '

type Json = Readonly<Record<string, unknown>> & { readonly type?: string }

/**
 * The algebra of a query as an expression of lists, in the notation of the examples of the recommendation (SPARQL 1.1 Query, section
 * 18.2.3). Variables that no query can name are numbered in the order of their occurrence.
 */
function algebraOf(text: string): string {
  const hidden: string[] = []
  const name = (variable: string) => {
    if (!variable.startsWith(' ')) return `?${variable}`
    if (!hidden.includes(variable)) hidden.push(variable)
    return `?#${hidden.indexOf(variable) + 1}`
  }
  const names = (variables: unknown) => `(${(variables as string[]).map(name).join(' ')})`
  const list = (...parts: unknown[]): string => `(${parts.filter(part => part !== '').join(' ')})`
  const each = (parts: unknown) => (parts as Json[]).map(show).join(' ')
  const show = (part: unknown): string => {
    if (part === null) return ''
    const { type, ...node } = part as Json
    switch (type) {
      case 'variable':
        return name(String(node.name))
      case 'iri':
        return `<${String(node.value).replace(/^.*[#/]/, '')}>`.replace('<urn:', '<')
      case 'blank':
        return `_:${node.value}`
      case 'literal':
        return `"${node.value}"${node.language === '' ? '' : `@${node.language}`}`
      case 'bgp':
        return list('bgp', ...(node.patterns as Json[]).map(triple))
      case 'path':
        return list('path', show(node.subject), show(node.path), show(node.object))
      case 'link':
        return `<${String(node.iri).replace('urn:', '')}>`
      case 'negated':
        return list('not', ...(node.iris as string[]).map(iri => `<${iri.replace('urn:', '')}>`))
      case 'inverse':
      case 'zeroOrMore':
      case 'oneOrMore':
      case 'zeroOrOne':
        return list(type, show(node.path))
      case 'sequence':
      case 'alternative':
        return list(type, each(node.paths))
      case 'join':
      case 'union':
        return list(type, each(node.inputs))
      case 'leftJoin':
      case 'minus':
      case 'lateral':
        if ('operand' in node) return list('-', show(node.operand))
        return list(type, show(node.left), show(node.right), show(node.condition ?? null))
      case 'filter':
        return list(type, show(node.condition), show(node.input))
      case 'extend':
        return list(type, name(String(node.variable)), show(node.expression), show(node.input))
      case 'graph':
      case 'service':
        return list(type, show(node.name), show(node.input))
      case 'values':
        return list(
          type,
          names(node.variables),
          ...(node.rows as unknown[][]).map(row => list(...row.map(term => show(term) || 'UNDEF'))),
        )
      case 'group':
        return list(
          type,
          names(node.keys),
          ...(node.aggregates as Json[]).map(({ variable, aggregate }) =>
            list(name(String(variable)), call(aggregate as Json)),
          ),
          show(node.input),
        )
      case 'order':
        return list(
          type,
          ...(node.keys as Json[]).map(({ expression, descending }) =>
            descending === true ? list('desc', show(expression)) : show(expression),
          ),
          show(node.input),
        )
      case 'project':
        return list(type, names(node.variables), show(node.input))
      case 'slice':
        return list(type, node.offset, node.limit ?? '', show(node.input))
      case 'binary':
        return list(node.operator, show(node.left), show(node.right))
      case 'not':
        return list('!', show(node.operand))
      case 'builtin':
        return list(node.name, each(node.arguments))
      case 'function':
        return list(`<${String(node.iri).replace('urn:', '')}>`, each(node.arguments))
      case 'in':
        return list(node.negated === true ? 'not-in' : 'in', show(node.operand), each(node.items))
      case 'exists':
        return list(node.negated === true ? 'not-exists' : 'exists', show(node.input))
      case 'construct':
        return list(type, list(...(node.template as Json[]).map(triple)), show(node.input))
      case 'describe':
        return list(type, list(each(node.terms)), show(node.input))
      case 'select':
        return show(node.input)
      default:
        return list(type, show(node.input))
    }
  }
  const triple = (pattern: Json) => list(show(pattern.subject), show(pattern.predicate), show(pattern.object))
  const call = ({ name: aggregate, distinct, operand, separator, parameters = [] }: Json) =>
    list(
      String(aggregate).replace(/^.*[#/]/, ''),
      distinct === true ? 'distinct' : '',
      operand === null ? '*' : show(operand),
      separator === undefined ? '' : `'${separator}'`,
      each(parameters),
    )
  return show(parseQuery(PREFIX + text).query)
}

/** What the algebra of the recommendation makes of queries (SPARQL 1.1 Query, section 18.2). */
const TRANSLATED: readonly (readonly [query: string, algebra: string])[] = [
  [
    'SELECT * { ?s :a/:b ?o . { SELECT ?s { ?s :p ?z } } ?s :c/:d ?e }',
    '(project (?s ?o ?e) (join (bgp (?s <a> ?#1) (?#1 <b> ?o)) (project (?s) (bgp (?s <p> ?z))) (bgp (?s <c> ?#2) (?#2 <d> ?e))))',
  ],
  [
    'SELECT ?s { ?s :p ?o OPTIONAL { ?o :q ?v FILTER(?v > ?o) { ?v :r 1 FILTER(?v = 2) } } FILTER(?o != 1) ?s :z _:b FILTER(?s != 2) }',
    '(project (?s) (filter (&& (!= ?o "1") (!= ?s "2")) (join (leftJoin (bgp (?s <p> ?o)) (join (bgp (?o <q> ?v)) (filter (= ?v "2") (bgp (?v <r> "1")))) (> ?v ?o)) (bgp (?s <z> ?#1)))))',
  ],
  [
    'SELECT ?s { ?s (:a|(:b|^:c))*/!(:d|^:e)/^(:f/:g) ?o }',
    '(project (?s) (join (path ?s (zeroOrMore (alternative <a> <b> (inverse <c>))) ?#1) (path ?#1 (alternative (not <d>) (inverse (not <e>))) ?#2) (bgp (?o <f> ?#3) (?#3 <g> ?#2))))',
  ],
  [
    'SELECT ?s { ?s !^:a ?o ; :b+/:c? "x"@EN }',
    '(project (?s) (join (path ?o (not <a>) ?s) (path ?s (oneOrMore <b>) ?#1) (path ?#1 (zeroOrOne <c>) "x"@en)))',
  ],
  [
    'SELECT ?s { { ?s :p 1 } UNION { { ?s :q 1 } UNION {} } MINUS { ?s :r 1 } BIND(IF(?s = :a, 1, -?s) AS ?n) GRAPH ?g { ?n :x ?y } }',
    '(project (?s) (join (extend ?n (IF (= ?s <a>) "1" (- ?s)) (minus (union (bgp (?s <p> "1")) (bgp (?s <q> "1")) (bgp)) (bgp (?s <r> "1")))) (graph ?g (bgp (?n <x> ?y)))))',
  ],
  [
    'SELECT ?y { ?n :x ?y SERVICE SILENT :e { ?y :x ?z } VALUES (?y ?z) { (1 UNDEF) (:a "b") } }',
    '(project (?y) (join (bgp (?n <x> ?y)) (service <e> (bgp (?y <x> ?z))) (values (?y ?z) ("1" UNDEF) (<a> "b"))))',
  ],
  [
    'SELECT ?s { ?s :p [ :q (1 2) ] . [] :r () }',
    '(project (?s) (bgp (?#1 <first> "1") (?#1 <rest> ?#2) (?#2 <first> "2") (?#2 <rest> <nil>) (?#3 <q> ?#1) (?s <p> ?#3) (?#4 <r> <nil>)))',
  ],
  [
    'SELECT ?s { ?s :p ?o ~ :r {| :q 1 |} . <<?a :b ?c>> :d 2 }',
    '(project (?s) (join (project (?s ?o) (extend ?o (OBJECT ?#1) (extend ?s (SUBJECT ?#1) (filter (&& (ISTRIPLE ?#1) (SAMETERM (PREDICATE ?#1) <p>)) (bgp (<r> <reifies> ?#1)))))) (project (?#2 ?a ?c) (extend ?c (OBJECT ?#1) (extend ?a (SUBJECT ?#1) (filter (&& (ISTRIPLE ?#1) (SAMETERM (PREDICATE ?#1) <b>)) (bgp (?#2 <reifies> ?#1)))))) (bgp (?s <p> ?o) (<r> <q> "1") (?#2 <d> "2"))))',
  ],
  [
    'SELECT * { ?s :p <<( ?x :q 1 )>> }',
    '(project (?s ?x) (project (?s ?x) (extend ?x (SUBJECT ?#1) (filter (&& (&& (ISTRIPLE ?#1) (SAMETERM (PREDICATE ?#1) <q>)) (SAMETERM (OBJECT ?#1) "1")) (bgp (?s <p> ?#1))))))',
  ],
  ['SELECT * { <<( ?x :q ?y )>> :p ?z }', '(project (?x ?y ?z) (values (?x ?y ?z)))'],
  [
    'SELECT (SUM(?x) + SUM(?x) * COUNT(*) AS ?t) { ?s :p ?x } GROUP BY ?s (STR(?x) AS ?k) UCASE(?k) HAVING(SUM(?x) > 3) (COUNT(*) > 1) ORDER BY DESC(AVG(DISTINCT ?x)) ?s LIMIT 5 OFFSET 2',
    '(slice 2 5 (project (?t) (order (desc ?#1) ?s (extend ?t (+ ?#2 (* ?#2 ?#3)) (filter (> ?#3 "1") (filter (> ?#2 "3") (group (?s ?k ?#4) (?#2 (SUM ?x)) (?#3 (COUNT *)) (?#1 (AVG distinct ?x)) (extend ?#4 (UCASE ?k) (extend ?k (STR ?x) (bgp (?s <p> ?x)))))))))))',
  ],
  [
    'SELECT (COUNT(DISTINCT *) AS ?n) { ?s :p/:q [ :r ?o ] } GROUP BY LCASE(?o)',
    '(project (?n) (extend ?n ?#1 (group (?#2) (?#1 (COUNT distinct *)) (project (?o ?s ?#2) (extend ?#2 (LCASE ?o) (bgp (?#3 <r> ?o) (?s <p> ?#4) (?#4 <q> ?#3)))))))',
  ],
  [
    'SELECT DISTINCT * { FILTER NOT EXISTS { ?b :q 1 } ?a :p ?b } VALUES ?c { 1 }',
    '(distinct (project (?b ?a ?c) (join (filter (not-exists (bgp (?b <q> "1"))) (bgp (?a <p> ?b))) (values (?c) ("1")))))',
  ],
  ['SELECT REDUCED ?a { ?a :p 1 } OFFSET 3', '(slice 3 (reduced (project (?a) (bgp (?a <p> "1")))))'],
  [
    'SELECT (GROUP_CONCAT(?x; SEPARATOR=",") AS ?g) (:f(?s) AS ?f) (<urn:lodestone:percentile>(DISTINCT ?x, 50) AS ?m) { ?s :p ?x } GROUP BY ?s',
    '(project (?g ?f ?m) (extend ?m ?#1 (extend ?f (<f> ?s) (extend ?g ?#2 (group (?s) (?#2 (GROUP_CONCAT ?x \',\')) (?#1 (urn:lodestone:percentile distinct ?x "50")) (bgp (?s <p> ?x)))))))',
  ],
  ['ASK { ?s :p 1 } LIMIT 2', '(ask (slice 0 2 (bgp (?s <p> "1"))))'],
  ['DESCRIBE * { ?z :p ?a }', '(describe (?z ?a) (bgp (?z <p> ?a)))'],
  [
    'DESCRIBE :a ?x { ?x :p 1 } ORDER BY ?x LIMIT 1',
    '(describe (<a> ?x) (slice 0 1 (order ?x (bgp (?x <p> "1")))))',
  ],
  ['DESCRIBE :a', '(describe (<a>) (bgp))'],
  ['CONSTRUCT WHERE { ?s :p ?o } LIMIT 1', '(construct ((?s <p> ?o)) (slice 0 1 (bgp (?s <p> ?o))))'],
  [
    'CONSTRUCT { _:b :p ?s , [ :q 1 ] } { ?s :p _:b }',
    '(construct ((_:e_b <p> ?s) (_:g_0 <q> "1") (_:e_b <p> _:g_0)) (bgp (?s <p> ?#1)))',
  ],
  [
    'SELECT * { ?s :p ?o LATERAL { SELECT ?s ?z { ?s :q ?z } LIMIT 1 } LATERAL { ?z :r ?w FILTER(?w > 1) } }',
    '(project (?s ?o ?z ?w) (lateral (lateral (bgp (?s <p> ?o)) (slice 0 1 (project (?s ?z) (bgp (?s <q> ?z))))) (filter (> ?w "1") (bgp (?z <r> ?w)))))',
  ],
  [
    'SELECT * { ?s :p ?o FILTER(?o NOT IN (1, 2) && :f(?o) || !BOUND(?s)) }',
    '(project (?s ?o) (filter (|| (&& (not-in ?o "1" "2") (<f> ?o)) (! (BOUND ?s))) (bgp (?s <p> ?o))))',
  ],
  ['SELECT * { }', '(project () (bgp))'],
  ['SELECT * { } VALUES ?__proto__ { 1 }', '(project (?__proto__) (values (?__proto__) ("1")))'],
]

t.test('queries and their algebra', async t => {
  for (const [query, algebra] of TRANSLATED) t.equal(algebraOf(query), algebra, query)
})

t.test('queries without an algebra', async t => {
  for (const query of [
    'SELECT ?x { BIND(1 AS ?x) BIND(2 AS ?x) }',
    'SELECT ?s { ?s :p ?x LATERAL { BIND(1 AS ?x) } }',
    'SELECT ?s { ?s :p ?o } GROUP BY ?s (:f(<urn:lodestone:sum>(?o)) AS ?k)',
    'SELECT ?s { ?s :p ?o } GROUP BY (<urn:lodestone:sum>(?o) AS ?k)',
  ])
    t.throws(() => parseQuery(PREFIX + query), query)
})
