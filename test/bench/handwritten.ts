import { storedPosition } from '../../src/model/positions.ts'
import type { Solution } from '../../src/store/store.ts'

/** A statement: its text, or the text that a client makes of the rows of the statement before it. */
export type Step = string | ((rows: readonly Solution[]) => string)

/** A row of an answer by the names of its columns. */
export type PlainRow = Readonly<Record<string, string>>

/** A question in SPARQL, as somebody writes it who knows the store well. */
export interface HandWritten {
  /** Asked one after another; the last one has the rows of the answer, or their contents as `?json`. */
  readonly steps: readonly Step[]
  /**
   * Where the number of all matches is: in `?count` of the first step, in the number of its rows, or nowhere, because
   * nobody asks how many records a dataset has before every page of it.
   */
  readonly total: 'count' | 'rows' | 'known'
  /** What is left to the client, where SPARQL has no such function. */
  readonly read?: (rows: readonly Solution[]) => readonly PlainRow[]
}

/** What differs from one run to the next, so that nothing is asked twice alike: both languages take it from here. */
export const varied = {
  country: (run: number) => pick(['FR', 'IT', 'DE', 'ES', 'PL', 'GB', 'RU', 'MX', 'BR', 'PH', 'AT'], run),
  word: (run: number) => pick(['saint', 'san', 'new', 'villa', 'bad', 'la', 'santa', 'west'], run),
  namePart: (run: number) => pick(['villa', 'saint', 'santa', 'bad', 'new', 'port', 'north'], run),
  beginning: (run: number) => pick(['San ', 'Bad ', 'Saint', 'New ', 'Villa', 'La ', 'Port '], run),
  letter: (run: number) => pick(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'j', 'l', 'm'], run),
  lon: (run: number) => 2 + run / 10,
} as const

const PAGE = 20

/**
 * The same questions as in queries.ts. Each is the quickest of the ways that were tried on Oxigraph and hold whatever
 * the records are: no statement leans on a value that happens to be in the data.
 *
 * - Few matches: the condition is the cost, so it is asked once, for the positions of all matches; their number is the
 *   total, and the contents of the page are looked up.
 * - Many matches: the page in a subselect, with the contents around it, and the total apart.
 * - Order: the key of the last row of the page alone, then only records up to that key.
 *
 * `f:` are the fields, `i:` what the index has of a record, `g:` the graphs: queries.ts writes the prologue.
 */
export const HANDWRITTEN: Readonly<Record<string, (run: number) => HandWritten>> = {
  page: run => known(contents(positionsFrom(run * PAGE))),
  'page, deep': run => known(contents(positionsFrom(9000 + run * PAGE))),
  'page, deep, of a range': run =>
    many(`GRAPH g:facts { ?record f:population ?p FILTER(?p > ${1000 + run}) }`, 9000),
  equality: run => many(`GRAPH g:facts { ?record f:country_code "${varied.country(run)}" }`),
  'equality and range': run =>
    few(`GRAPH g:facts { ?record f:country_code "FR"; f:population ?p FILTER(?p > ${10_000 + run}) }`),
  'range, few': run => few(`GRAPH g:facts { ?record f:population ?p FILTER(?p > ${1_000_000 + run}) }`),
  'range, many': run =>
    many(`GRAPH g:facts { ?record f:population ?p FILTER(?p >= ${5000 + run} && ?p <= 20000) }`),
  'or of two fields': run => ({
    // The position within each branch: joined to the union, it is read for all records.
    steps: [
      `SELECT DISTINCT ?position {
         { GRAPH g:facts { ?record f:population ?p FILTER(?p > ${5_000_000 + run}) }
           GRAPH g:index { ?record i:position ?position } }
         UNION
         { GRAPH g:facts { ?record f:feature_code "PPLC" } GRAPH g:index { ?record i:position ?position } }
       } ORDER BY ?position`,
      rows => contents(positionsOf(rows)),
    ],
    total: 'rows',
  }),
  not: run => allBut(`GRAPH g:facts { ?record f:country_code "${varied.country(run)}" }`),
  'not, and range': run =>
    few(`GRAPH g:facts { ?record f:population ?p FILTER(?p > ${500_000 + run}) }
         MINUS { GRAPH g:facts { ?record f:country_code "CN" } }`),
  'is null': run => allBut('GRAPH g:facts { ?record f:alternate_names ?any }', run * PAGE),
  'is null, few': () => ({
    steps: [
      `SELECT ?position {
         GRAPH g:index { ?record i:position ?position }
         FILTER NOT EXISTS { GRAPH g:facts { ?record f:admin1_code ?any } }
       } ORDER BY ?position`,
      rows => contents(positionsOf(rows)),
    ],
    total: 'rows',
  }),
  like: run =>
    few(
      `GRAPH g:facts { ?record f:name ?name FILTER(REGEX(?name, "${wordPattern(varied.namePart(run))}", "i")) }`,
    ),
  'starts with': run =>
    few(`GRAPH g:facts { ?record f:name ?name FILTER(STRSTARTS(?name, "${varied.beginning(run)}")) }`),
  // REGEX looks for a plain text quicker than CONTAINS.
  'full text, one word': run =>
    few(`GRAPH g:index { ?record i:text ?text FILTER(REGEX(?text, " ${varied.word(run)} ")) }`),
  'full text, prefix': run =>
    few(`GRAPH g:index { ?record i:text ?text
           FILTER(REGEX(?text, " saint ") && REGEX(?text, " ${varied.letter(run)}")) }`),
  distance: run =>
    few(`GRAPH g:facts { ?record f:coordinates ?place
           FILTER(geof:distance(?place, "POINT(${varied.lon(run)} 48.85)"^^geo:wktLiteral, uom:metre) <= 50000) }`),
  'bounding box': run => {
    const [west, east] = [varied.lon(run), varied.lon(run) + 1]
    const box = `POLYGON((${west} 48, ${east} 48, ${east} 49, ${west} 49, ${west} 48))`
    return few(`GRAPH g:facts { ?record f:coordinates ?place
                  FILTER(geof:sfIntersects(?place, "${box}"^^geo:wktLiteral)) }`)
  },
  'order by a number': run => {
    const offset = run * PAGE
    return {
      steps: [
        // As many distinct values reach at least as far as the page, and are fewer to sort.
        `SELECT ?p { GRAPH g:facts { ?record f:population ?p } }
         GROUP BY ?p ORDER BY DESC(?p) LIMIT ${offset + PAGE}`,
        rows =>
          `SELECT ?json {
             GRAPH g:facts { ?record f:population ?p FILTER(?p >= ${rows.at(-1)?.p?.value}) }
             GRAPH g:index { ?record i:position ?position; i:json ?json }
           } ORDER BY DESC(?p) ?position LIMIT ${PAGE} OFFSET ${offset}`,
      ],
      total: 'known',
    }
  },
  'order by a name': run => {
    const offset = run * PAGE
    return {
      steps: [
        `SELECT ?name { GRAPH g:facts { ?record f:name ?name } }
         ORDER BY ?name LIMIT 1 OFFSET ${offset + PAGE - 1}`,
        rows =>
          `SELECT ?json {
             GRAPH g:facts { ?record f:name ?name FILTER(?name <= ${JSON.stringify(rows[0]?.name?.value)}) }
             GRAPH g:index { ?record i:position ?position; i:json ?json }
           } ORDER BY ?name ?position LIMIT ${PAGE} OFFSET ${offset}`,
      ],
      total: 'known',
    }
  },
  'range, ordered by name': run => {
    const range = `GRAPH g:facts { ?record f:population ?p FILTER(?p >= ${5000 + run} && ?p <= 20000) }`
    const named = `${range} GRAPH g:facts { ?record f:name ?name } GRAPH g:index { ?record i:position ?position }`
    const page = `SELECT ?json {
      { SELECT ?record ?name ?position { ${named} }
        ORDER BY ?name ?position LIMIT ${PAGE} OFFSET ${run * PAGE} }
      GRAPH g:index { ?record i:json ?json }
    } ORDER BY ?name ?position`
    return { steps: [counted(range), page], total: 'count' }
  },
  'group by a field': () =>
    groups(
      'SELECT ?k (COUNT(*) AS ?n) { GRAPH g:facts { ?record f:country_code ?k } } GROUP BY ?k ORDER BY ?k',
    ),
  'group: sum, mean, maximum': () =>
    groups(`SELECT ?k (SUM(?p) AS ?s) (AVG(?p) AS ?a) (MAX(?p) AS ?m)
            { GRAPH g:facts { ?record f:population ?p; f:country_code ?k } } GROUP BY ?k ORDER BY ?k`),
  'group by two fields': () =>
    groups(`SELECT ?k ?j (COUNT(*) AS ?n) (SUM(?p) AS ?s) (AVG(?p) AS ?a) (MAX(?p) AS ?m)
            { GRAPH g:facts { ?record f:population ?p; f:country_code ?k; f:feature_code ?j } }
            GROUP BY ?k ?j ORDER BY ?k ?j`),
  'group: static ranges': run => {
    const step = `IF(?p < ${1000 + run}, 0, IF(?p < 10000, 1, IF(?p < 100000, 2, IF(?p < 1000000, 3, 4))))`
    return groups(`SELECT ?step (COUNT(*) AS ?n) { GRAPH g:facts { ?record f:population ?p } BIND(${step} AS ?step) }
                   GROUP BY ?step ORDER BY ?step`)
  },
  'group: equal ranges': run =>
    // A double, for a quotient of integers is a decimal and takes twice the time.
    groups(`SELECT ?step (COUNT(*) AS ?n) { GRAPH g:facts { ?record f:population ?p } }
            GROUP BY (FLOOR(?p / ${50_000 + run}e0) AS ?step) ORDER BY ?step`),
  'group: year, month (movies)': () =>
    groups(`SELECT ?y ?m (COUNT(*) AS ?n) { GRAPH g:facts { ?record f:release_date ?date } }
            GROUP BY (YEAR(?date) AS ?y) (MONTH(?date) AS ?m) ORDER BY ?y ?m`),
  'group: hour (earthquakes)': () =>
    groups(`SELECT ?h (COUNT(*) AS ?n) (MAX(?magnitude) AS ?m)
            { GRAPH g:facts { ?record f:time ?time OPTIONAL { ?record f:magnitude ?magnitude } } }
            GROUP BY (HOURS(?time) AS ?h) ORDER BY ?h`),
  'median by country': () => ({
    ...groups(`SELECT ?k (GROUP_CONCAT(STR(?p)) AS ?numbers)
               { GRAPH g:facts { ?record f:population ?p; f:country_code ?k } } GROUP BY ?k ORDER BY ?k`),
    read: rows =>
      rows.map(({ k, numbers }) => ({
        k: k?.value ?? '',
        median: String(median(Float64Array.from(numbers?.value.split(' ') ?? [], Number))),
      })),
  }),
  'count distinct': () =>
    known('SELECT (COUNT(DISTINCT ?name) AS ?n) { GRAPH g:facts { ?record f:name ?name } }'),
  'count distinct by country': () =>
    groups(`SELECT ?k (COUNT(DISTINCT ?division) AS ?n)
            { GRAPH g:facts { ?record f:country_code ?k OPTIONAL { ?record f:admin1_code ?division } } }
            GROUP BY ?k ORDER BY ?k`),
}

function few(where: string): HandWritten {
  const all = `SELECT ?position { ${where} GRAPH g:index { ?record i:position ?position } } ORDER BY ?position`
  return { steps: [all, rows => contents(positionsOf(rows))], total: 'rows' }
}

function many(where: string, offset = 0): HandWritten {
  const found = `${where} GRAPH g:index { ?record i:position ?position }`
  return { steps: [counted(where), pageOf(found, offset)], total: 'count' }
}

/** All records but some: their number is a difference. */
function allBut(some: string, offset = 0): HandWritten {
  const found = `GRAPH g:index { ?record i:position ?position } MINUS { ${some} }`
  const count = `SELECT ((?all - ?some) AS ?count) {
    { SELECT (COUNT(*) AS ?all) { GRAPH g:index { ?record i:position ?position } } }
    { SELECT (COUNT(DISTINCT ?record) AS ?some) { ${some} } }
  }`
  return { steps: [count, pageOf(found, offset)], total: 'count' }
}

function groups(text: string): HandWritten {
  return { steps: [text], total: 'rows' }
}

function known(text: string): HandWritten {
  return { steps: [text], total: 'known' }
}

function counted(where: string): string {
  return `SELECT (COUNT(*) AS ?count) { ${where} }`
}

function pageOf(found: string, offset: number): string {
  return `SELECT ?json {
    { SELECT ?record ?position { ${found} } ORDER BY ?position LIMIT ${PAGE} OFFSET ${offset} }
    GRAPH g:index { ?record i:json ?json }
  } ORDER BY ?position`
}

function contents(positions: readonly (string | number)[]): string {
  return `SELECT ?json {
    VALUES ?position { ${positions.join(' ')} }
    GRAPH g:index { ?record i:position ?position; i:json ?json }
  } ORDER BY ?position`
}

function positionsFrom(first: number): readonly number[] {
  return Array.from({ length: PAGE }, (_, index) => storedPosition(first + index))
}

function positionsOf(rows: readonly Solution[]): readonly string[] {
  return rows.slice(0, PAGE).map(({ position }) => position?.value ?? '')
}

/** A word in any case, with accents or without. */
function wordPattern(word: string): string {
  const accented: Readonly<Record<string, string>> = {
    a: '[aàáâãäåāăą]',
    e: '[eèéêëēėę]',
    i: '[iìíîïī]',
    n: '[nñńņň]',
    o: '[oòóôõöø]',
    u: '[uùúûüū]',
  }
  return `\\\\b${[...word].map(letter => accented[letter] ?? letter).join('')}\\\\b`
}

function median(numbers: Float64Array): number {
  const sorted = numbers.sort()
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
}

function pick(of: readonly string[], run: number): string {
  return of[run % of.length] ?? ''
}
