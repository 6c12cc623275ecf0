/** The queries of race.mjs, each with other constants in each run. */
/** What the queries abbreviate. */
export const PREFIXES = `PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX s: <http://schema.org/>
PREFIX gn: <http://www.geonames.org/ontology#>
PREFIX geo: <http://www.opengis.net/ont/geosparql#>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX sosa: <http://www.w3.org/ns/sosa/>
PREFIX dct: <http://purl.org/dc/terms/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
PREFIX c: <http://localhost:3000/ld/resources/countries/country/>
PREFIX e: <http://localhost:3000/ld/ontologies/earthquakes/>
`
const COUNTRIES = [
  'FR',
  'DE',
  'IT',
  'ES',
  'PL',
  'JP',
  'BR',
  'MX',
  'GB',
  'RU',
  'IN',
  'CN',
  'TR',
  'AR',
  'NL',
  'BE',
]
const CODES = ['PPL', 'PPLA', 'PPLA2', 'PPLA3', 'PPLA4', 'PPLC', 'PPLX', 'PPLL']
const country = run => COUNTRIES[run % COUNTRIES.length]
const code = run => `<http://www.geonames.org/ontology#P.${CODES[run % CODES.length]}>`

/** Twenty-two queries of strangers over the triples of the demonstration portal. */
export const QUERIES = {
  'count of a class': run =>
    `SELECT (COUNT(?x) AS ?n) { ?x a s:${['City', 'Airport', 'Movie', 'Country', 'Event'][run % 5]} }`,
  'triples of a predicate by object': run =>
    `SELECT ?k (COUNT(*) AS ?n) { ?x gn:featureCode ?k } GROUP BY ?k HAVING (COUNT(*) > ${run})`,
  'cities of a country': run =>
    `SELECT ?x ?l { ?x a s:City ; s:containedInPlace c:${country(run)} ; rdfs:label ?l } ORDER BY ?l LIMIT 50`,
  'largest cities': run =>
    `SELECT ?l ?p { ?x gn:population ?p ; rdfs:label ?l } ORDER BY DESC(?p) LIMIT ${20 + run}`,
  'largest of a country': run =>
    `SELECT ?l ?p { ?x s:containedInPlace c:${country(run)} ; gn:population ?p ; rdfs:label ?l } ORDER BY DESC(?p) LIMIT 10`,
  'sums by country': run =>
    `SELECT ?k (COUNT(*) AS ?n) (SUM(?p) AS ?s) { ?x gn:population ?p ; s:containedInPlace ?k FILTER(?p > ${run}) } GROUP BY ?k`,
  'averages by code': run =>
    `SELECT ?k (AVG(?p) AS ?m) (MAX(?p) AS ?h) { ?x gn:population ?p ; gn:featureCode ?k FILTER(?p >= ${run}) } GROUP BY ?k ORDER BY DESC(?m)`,
  'two keys': run =>
    `SELECT ?c ?k (COUNT(*) AS ?n) { ?x s:containedInPlace ?c ; gn:featureCode ?k ; gn:population ?p FILTER(?p > ${run * 10}) } GROUP BY ?c ?k ORDER BY DESC(?n) LIMIT 100`,
  'a range of numbers': run =>
    `SELECT (COUNT(*) AS ?n) { ?x gn:population ?p FILTER(?p >= ${1000 + run * 50} && ?p < ${20000 + run * 100}) }`,
  'capitals with their countries': run =>
    `SELECT ?l ?n { ?x gn:featureCode <http://www.geonames.org/ontology#P.PPLC> ; rdfs:label ?l ; s:containedInPlace ?c . ?c wdt:P297 ?n FILTER(?n != "X${run}") }`,
  'cities with the area of their country': run =>
    `SELECT ?c (SUM(?p) AS ?s) (SAMPLE(?a) AS ?area) { ?x a s:City ; gn:population ?p ; s:containedInPlace ?c . ?c wdt:P2046 ?a FILTER(?p > ${run * 1000}) } GROUP BY ?c`,
  'cities and airports of one name': run =>
    `SELECT ?l { ?x a s:City ; rdfs:label ?l . ?y s:addressLocality ?m FILTER(STR(?m) = STR(?l) && STRSTARTS(STR(?m), "${'ABCDEFGHIJKLMNOP'[run % 16]}u")) }`,
  'one resource': run => `SELECT ?p ?o { c:${country(run)} ?p ?o }`,
  'links to one resource': run => `SELECT ?p (COUNT(*) AS ?n) { ?s ?p c:${country(run)} } GROUP BY ?p`,
  'part of a text': run =>
    `SELECT ?l { ?x a s:City ; rdfs:label ?l FILTER(CONTAINS(LCASE(STR(?l)), "${['berg', 'stad', 'ville', 'burg', 'grad', 'port'][run % 6]}")) } LIMIT 100`,
  'a regular expression': run =>
    `SELECT (COUNT(*) AS ?n) { ?x a s:City ; rdfs:label ?l FILTER(REGEX(STR(?l), "^${['San', 'Santa', 'New', 'Saint', 'Los', 'Bad'][run % 6]} .*${'aeiou'[run % 5]}$")) }`,
  'without a division': run =>
    `SELECT ?x ?l { ?x a s:City ; gn:featureCode ${code(run)} ; rdfs:label ?l FILTER NOT EXISTS { ?x gn:parentADM1 ?d } } LIMIT 50`,
  'an optional value': run =>
    `SELECT ?c ?a { ?c a s:Country OPTIONAL { ?c s:alternateName ?a FILTER(STRLEN(STR(?a)) > ${run % 5}) } }`,
  'divisions of a country with their cities': run =>
    `SELECT ?d (COUNT(?x) AS ?n) { ?d a s:AdministrativeArea ; s:containedInPlace c:${country(run)} . ?x gn:parentADM1 ?d } GROUP BY ?d ORDER BY DESC(?n)`,
  'observations by property': run =>
    `SELECT ?q (COUNT(*) AS ?n) (AVG(xsd:double(?v)) AS ?m) { ?o sosa:observedProperty ?q ; sosa:hasSimpleResult ?v FILTER(ISNUMERIC(?v) && ?v > ${run}) } GROUP BY ?q`,
  'strong earthquakes': run =>
    `SELECT ?x ?t ?m { ?o sosa:hasFeatureOfInterest ?x ; sosa:hasSimpleResult ?m . ?x s:startDate ?t FILTER(?m > ${2 + run / 10}) } ORDER BY DESC(?m) ?t LIMIT 20`,
  'either of two': run =>
    `SELECT ?l { { ?x s:containedInPlace c:${country(run)} ; gn:featureCode <http://www.geonames.org/ontology#P.PPLA> ; rdfs:label ?l } UNION { ?x a s:Airport ; rdfs:label ?l ; s:address ?a . ?a s:addressRegion "${['CA', 'TX', 'NY', 'FL', 'AK'][run % 5]}" } }`,
}

/** Forty further ones: how researchers explore a store that they do not know. */
export const FURTHER = {
  'two optional values': run =>
    `SELECT ?x ?l ?p ?d { ?x a s:City ; rdfs:label ?l OPTIONAL { ?x gn:population ?p } OPTIONAL { ?x gn:parentADM1 ?d } FILTER(?p > ${100000 + run * 100}) }`,
  'distinct objects': run =>
    `SELECT DISTINCT ?k { ?x gn:featureCode ?k ; gn:population ?p FILTER(?p > ${run}) }`,
  'a number of distinct objects': run =>
    `SELECT (COUNT(DISTINCT ?c) AS ?n) { ?x gn:population ?p ; s:containedInPlace ?c FILTER(?p > ${run * 10}) }`,
  'a number of distinct names': run =>
    `SELECT (COUNT(DISTINCT ?l) AS ?n) { ?x a s:City ; rdfs:label ?l ; gn:population ?p FILTER(?p > ${run}) }`,
  'two keys of an order': run =>
    `SELECT ?l ?p { ?x a s:City ; gn:population ?p ; rdfs:label ?l ; gn:featureCode ?k } ORDER BY ?k DESC(?p) LIMIT ${20 + run}`,
  'an order by an expression': run =>
    `SELECT ?l { ?x a s:City ; rdfs:label ?l ; gn:population ?p } ORDER BY STRLEN(STR(?l)) ?l LIMIT ${20 + run}`,
  minus: run =>
    `SELECT (COUNT(*) AS ?n) { ?x a s:City ; gn:population ?p FILTER(?p > ${run}) MINUS { ?x gn:featureCode <http://www.geonames.org/ontology#P.PPL> } }`,
  'not exists': run =>
    `SELECT (COUNT(*) AS ?n) { ?x a s:City ; gn:population ?p FILTER(?p > ${run}) FILTER NOT EXISTS { ?x gn:parentADM1 ?d } }`,
  'exists with a condition': run =>
    `SELECT ?c (COUNT(*) AS ?n) { ?c a s:Country FILTER EXISTS { ?x s:containedInPlace ?c ; gn:population ?p FILTER(?p > ${1000000 + run}) } } GROUP BY ?c`,
  'one of a list': run =>
    `SELECT (COUNT(*) AS ?n) (SUM(?p) AS ?s) { ?x s:containedInPlace ?c ; gn:population ?p FILTER(?c IN (c:FR, c:DE, c:IT)) FILTER(?p > ${run}) }`,
  values: run =>
    `SELECT ?c (MAX(?p) AS ?m) { VALUES ?c { c:FR c:DE c:${country(run)} c:JP } ?x s:containedInPlace ?c ; gn:population ?p FILTER(?p > ${run}) } GROUP BY ?c`,
  'groups by a choice': run =>
    `SELECT ?b (COUNT(*) AS ?n) { ?x a s:City ; gn:population ?p BIND(IF(?p > ${100000 + run}, "large", IF(?p > 10000, "middle", "small")) AS ?b) } GROUP BY ?b`,
  'groups by a division': run =>
    `SELECT ?b (COUNT(*) AS ?n) { ?x a s:City ; gn:population ?p BIND(FLOOR(?p / ${10000 + run}) AS ?b) } GROUP BY ?b ORDER BY ?b`,
  'a condition on a subquery': run =>
    `SELECT ?c ?n { { SELECT ?c (COUNT(*) AS ?n) { ?x s:containedInPlace ?c ; gn:population ?p FILTER(?p > ${run}) } GROUP BY ?c } FILTER(?n > 1000) } ORDER BY DESC(?n)`,
  'a subquery and its names': run =>
    `SELECT ?l ?n { { SELECT ?c (COUNT(*) AS ?n) { ?x s:containedInPlace ?c ; gn:population ?p FILTER(?p > ${run}) } GROUP BY ?c ORDER BY DESC(?n) LIMIT 10 } ?c rdfs:label ?l }`,
  'a path of one or more': run => `SELECT ?x { ?x s:containedInPlace+ c:${country(run)} } LIMIT ${100 + run}`,
  'a sequence of two': run =>
    `SELECT ?n (COUNT(*) AS ?k) { ?x s:containedInPlace/wdt:P297 ?n ; gn:population ?p FILTER(?p > ${run}) } GROUP BY ?n`,
  having: run =>
    `SELECT ?c (AVG(?p) AS ?a) { ?x s:containedInPlace ?c ; gn:population ?p } GROUP BY ?c HAVING (AVG(?p) > ${10000 + run}) ORDER BY DESC(?a)`,
  'names in one text': run =>
    `SELECT ?c (GROUP_CONCAT(?l; separator=", ") AS ?ls) { ?x s:containedInPlace ?c ; gn:featureCode <http://www.geonames.org/ontology#P.PPLA> ; rdfs:label ?l ; gn:population ?p FILTER(?p > ${run}) } GROUP BY ?c`,
  'a union of two classes': run =>
    `SELECT (COUNT(*) AS ?n) { { ?x a s:City ; gn:population ?p FILTER(?p > ${run}) } UNION { ?x a s:Airport } }`,
  'all predicates': run =>
    `SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY DESC(?n) LIMIT ${20 + run}`,
  'all classes': run =>
    `SELECT ?t (COUNT(*) AS ?n) { ?s a ?t } GROUP BY ?t ORDER BY DESC(?n) LIMIT ${20 + run}`,
  'predicates of a class': run =>
    `SELECT ?p (COUNT(*) AS ?n) { ?s a s:City ; ?p ?o } GROUP BY ?p LIMIT ${20 + run}`,
  'distinct predicates of a class': run => `SELECT DISTINCT ?p { ?s a s:City ; ?p ?o } LIMIT ${20 + run}`,
  'groups by language': run =>
    `SELECT ?g (COUNT(*) AS ?n) { ?x rdfs:label ?l BIND(LANG(?l) AS ?g) } GROUP BY ?g LIMIT ${20 + run}`,
  'a part of any name': run =>
    `SELECT ?x ?l { ?x rdfs:label ?l FILTER(REGEX(?l, "${'abcdefghijklmnop'[run % 16]}${'aeiou'[run % 5]}rg", "i")) } LIMIT 50`,
  'groups by year': run =>
    `SELECT ?y (COUNT(*) AS ?n) { ?x s:startDate ?d BIND(YEAR(?d) AS ?y) } GROUP BY ?y HAVING (COUNT(*) > ${run})`,
  'names of many': run =>
    `SELECT ?l (COUNT(*) AS ?n) { ?x a s:City ; rdfs:label ?l } GROUP BY ?l HAVING (COUNT(*) > ${5 + run}) ORDER BY DESC(?n)`,
  'two of one name': run =>
    `SELECT ?l ?m { ?x a s:City ; rdfs:label ?l ; gn:population ?p . ?y a s:City ; rdfs:label ?l ; gn:population ?q FILTER(?x != ?y && ?p > ${500000 + run * 100} && ?q > 100000) ?y gn:parentADM1 ?m }`,
  'the largest of each': run =>
    `SELECT ?l ?p { { SELECT ?c (MAX(?q) AS ?p) { ?z s:containedInPlace ?c ; gn:population ?q FILTER(?q > ${run}) } GROUP BY ?c } ?x s:containedInPlace ?c ; gn:population ?p ; rdfs:label ?l }`,
  'a page of all': run => `SELECT ?s ?p ?o { ?s ?p ?o } LIMIT ${1000 + run}`,
  'a late page of all': run => `SELECT ?s ?p ?o { ?s ?p ?o } OFFSET ${100000 + run * 100} LIMIT 100`,
  'a count of all': run => `SELECT (COUNT(*) AS ?n${run}) { ?s ?p ?o }`,
  'a number of subjects': run => `SELECT (COUNT(DISTINCT ?s) AS ?n${run}) { ?s ?p ?o }`,
  'subjects with a prefix': run =>
    `SELECT (COUNT(*) AS ?n) { ?s ?p ?o FILTER(STRSTARTS(STR(?s), "http://localhost:3000/ld/resources/airports/${'abcdefghijklmnop'[run % 16]}")) }`,
  literals: run => `SELECT (COUNT(*) AS ?n${run}) { ?s ?p ?o FILTER(ISLITERAL(?o)) }`,
  'subjects of a literal': run => `SELECT ?s ?p { ?s ?p "Paris" } LIMIT ${10 + run}`,
  'a range of times': run =>
    `SELECT (COUNT(*) AS ?n) { ?x s:startDate ?d FILTER(?d >= "2018-02-0${1 + (run % 9)}T00:00:00Z"^^xsd:dateTime) }`,
  neighbours: run =>
    `SELECT ?a ?b { ?a s:containedInPlace ?c . ?b s:containedInPlace ?c . ?a gn:featureCode <http://www.geonames.org/ontology#P.PPLC> . ?b gn:featureCode <http://www.geonames.org/ontology#P.PPLA> ; gn:population ?p FILTER(?p > ${100000 + run}) }`,
  'films by genre': run =>
    `SELECT ?g (COUNT(*) AS ?n) (AVG(?w) AS ?m) { ?x a s:Movie ; s:genre ?g ; wdt:P2142 ?w FILTER(?w > ${run * 1000}) } GROUP BY ?g ORDER BY DESC(?m)`,
  'films with their ratings': run =>
    `SELECT ?l ?r { ?x a s:Movie ; rdfs:label ?l ; s:aggregateRating ?a . ?a s:ratingValue ?r ; s:ratingCount ?n FILTER(?n > ${1000 + run}) } ORDER BY DESC(?r) LIMIT 20`,
  'films by year': run =>
    `SELECT ?y (COUNT(*) AS ?n) (SUM(?w) AS ?s) { ?x s:datePublished ?d ; wdt:P2142 ?w FILTER(?w > ${run}) BIND(YEAR(?d) AS ?y) } GROUP BY ?y ORDER BY ?y`,
  'directors with many films': run =>
    `SELECT ?l (COUNT(?x) AS ?n) { ?x s:director ?d . ?d rdfs:label ?l } GROUP BY ?l HAVING (COUNT(?x) > ${3 + (run % 10)}) ORDER BY DESC(?n)`,
  'gain of films': run =>
    `SELECT ?l ?gain { ?x a s:Movie ; rdfs:label ?l ; wdt:P2130 ?b ; wdt:P2142 ?w BIND(?w - ?b AS ?gain) FILTER(?gain > ${run * 1000}) } ORDER BY DESC(?gain) LIMIT 20`,
  'airports by state': run =>
    `SELECT ?r (COUNT(*) AS ?n) { ?x a s:Airport ; s:address ?a . ?a s:addressRegion ?r ; s:addressLocality ?m FILTER(STRLEN(STR(?m)) > ${run % 8}) } GROUP BY ?r`,
  'earthquakes by day': run =>
    `SELECT ?d (COUNT(*) AS ?n) (MAX(?m) AS ?h) { ?x a s:Event ; s:startDate ?t . ?o sosa:hasFeatureOfInterest ?x ; sosa:hasSimpleResult ?m FILTER(?m > ${run / 10}) BIND(DAY(?t) AS ?d) } GROUP BY ?d ORDER BY ?d`,
  'other names of cities': run =>
    `SELECT ?x (COUNT(?a) AS ?n) { ?x a s:City ; s:containedInPlace c:${country(run)} ; s:alternateName ?a } GROUP BY ?x ORDER BY DESC(?n) LIMIT 20`,
  'cities by another name': run =>
    `SELECT ?x ?l { ?x s:alternateName "${['Parigi', 'Londra', 'Mailand', 'Venedig', 'Rom', 'Athen'][run % 6]}" ; rdfs:label ?l }`,
  'a part of another name': run =>
    `SELECT ?x ?a { ?x a s:City ; s:alternateName ?a ; gn:population ?p FILTER(?p > ${run} && CONTAINS(?a, "${['burg', 'abad', 'grad', 'pol', 'ville'][run % 5]}")) } LIMIT 100`,
  'cities and their names, all of a country': run =>
    `SELECT ?x ?l ?p ?k ?d { ?x s:containedInPlace c:${country(run)} ; rdfs:label ?l ; gn:population ?p ; gn:featureCode ?k ; gn:parentADM1 ?d }`,
  'every city': run =>
    `SELECT ?x ?l ?p { ?x a s:City ; rdfs:label ?l ; gn:population ?p FILTER(?p > ${run}) }`,
  'cities with all their values': run =>
    `SELECT ?x ?q ?o { ?x a s:City ; gn:population ?p ; ?q ?o FILTER(?p > ${1000000 + run * 1000}) }`,
  'means by division': run =>
    `SELECT ?d (AVG(?p) AS ?m) (COUNT(*) AS ?n) { ?x gn:parentADM1 ?d ; gn:population ?p ; a s:City FILTER(?p > ${run}) } GROUP BY ?d HAVING (COUNT(*) > 10) ORDER BY DESC(?m) LIMIT 50`,
  'first letters': run =>
    `SELECT ?i (COUNT(*) AS ?n) { ?x a s:City ; rdfs:label ?l ; gn:population ?p FILTER(?p > ${run}) BIND(UCASE(SUBSTR(?l, 1, 1)) AS ?i) } GROUP BY ?i ORDER BY DESC(?n)`,
  'smallest and largest': run =>
    `SELECT (MIN(?p) AS ?a) (MAX(?p) AS ?b) (AVG(?p) AS ?m) { ?x s:containedInPlace c:${country(run)} ; gn:population ?p }`,
  'places near': run =>
    `SELECT ?x ?w { ?x a s:City ; geo:hasGeometry ?g . ?g geo:asWKT ?w ; rdfs:label ?l FILTER(CONTAINS(?l, "${['berg', 'stad', 'ville'][run % 3]}")) } LIMIT 50`,
}
