/** Made data of a city's bicycle stations: 300 of them in 20 districts, as Turtle with links, languages and gaps. */
const EX = 'http://stations.example/'

export const STATIONS = 300
const DISTRICTS = 20
const NAMES = ['Market', 'Station', 'Bridge', 'Harbour', 'Castle', 'Park', 'Mill', 'Church', 'Gate', 'Hill']

export function stations() {
  const lines = [
    `@prefix ex: <${EX}> .`,
    '@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .',
    '@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .',
  ]
  for (let i = 0; i < DISTRICTS; i++)
    lines.push(`ex:district${i} a ex:District ; rdfs:label "District ${i}"@en .`)
  for (let i = 0; i < STATIONS; i++) {
    const more = [
      i % 3 === 0 ? ` ; ex:renovated "${2000 + (i % 20)}"^^xsd:integer` : '',
      i % 5 === 0 ? ` ; ex:near ex:station${(i * 7 + 1) % STATIONS}` : '',
      i % 4 === 0 ? ' ; ex:bonus true' : '',
    ]
    const name = `${NAMES[i % NAMES.length]} ${i}`
    lines.push(
      `ex:station${i} a ex:Station ; rdfs:label "${name}"@en ; ex:district ex:district${i % DISTRICTS} ; ` +
        `ex:capacity "${10 + ((i * 13) % 40)}"^^xsd:integer ; ex:number "${i}"${more.join('')} .`,
    )
  }
  return `${lines.join('\n')}\n`
}

const PREFIXES = `PREFIX ex: <${EX}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> `

/** What Comunica is asked, one of each kind that a client of fragments meets. */
export const QUERIES = {
  'count everything': 'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }',
  '4-pattern join': 'SELECT * { ?s a ex:Station ; ex:district ?d ; ex:renovated ?y ; ex:near ?other }',
  'join + filter': 'SELECT ?s ?c { ?s ex:near ?o . ?s ex:capacity ?c FILTER(?c > 30) }',
  OPTIONAL: 'SELECT * { ?s rdfs:label ?l OPTIONAL { ?s ex:renovated ?y } }',
  'NOT EXISTS': 'SELECT ?s { ?s a ex:Station FILTER NOT EXISTS { ?s ex:bonus ?b } }',
}
for (const [name, query] of Object.entries(QUERIES)) QUERIES[name] = PREFIXES + query
