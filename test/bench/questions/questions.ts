/** Languages of SQL that peers speak. */
export type Sql = 'duckdb' | 'sqlite'

/** What questions take their constants from, so that no two runs ask the same. */
export interface Constants {
  /** Words of names, each in some of them. */
  readonly words: readonly string[]
  readonly countries: readonly string[]
  /** Points of records. */
  readonly points: readonly { readonly lon: number; readonly lat: number }[]
}

/** A question as a client of the portal, of a database and of a triple store asks it. */
export interface Question {
  readonly name: string
  readonly path: 'records' | 'facets'
  readonly odsql: Readonly<Record<string, string | readonly string[]>>
  /** Statements that answer it together: a page and the number of all records that match are two. */
  readonly sql: (language: Sql) => readonly string[]
  /** Over the own vocabulary, whose prefix is `:`; null where SPARQL has no function for it. */
  readonly sparql: readonly string[] | null
}

/** Makes the question of one run. */
export type QuestionMaker = (run: number, constants: Constants) => Question

const FROM = 'FROM places'
const ALL = '?x :geonameid ?id'

/** Questions over places with the fields name, country_code, feature_code, admin1_code, population and coordinates. */
export const QUESTIONS: readonly QuestionMaker[] = [
  run => {
    const least = 1000 + run * 97
    return requested('count over a number', { where: `population > ${least}`, limit: '0' }, () => [
      `SELECT count(*) ${FROM} WHERE population > ${least}`,
    ])([`SELECT (COUNT(*) AS ?n) { ?x :population ?p FILTER(?p > ${least}) }`])
  },
  (run, { countries }) => {
    const [country, least] = [pick(countries, run), 2000 + run * 31]
    const where = `country_code = '${country}' AND population > ${least}`
    const pattern = `?x :country_code "${country}" ; :population ?p FILTER(?p > ${least})`
    return requested(
      'two conditions, ordered, first 10, count',
      {
        where: `country_code = "${country}" and population > ${least}`,
        order_by: 'population desc',
        limit: '10',
      },
      () => counted(where, 'population DESC', 10),
    )(countedSparql(pattern, 'DESC(?p)', 10))
  },
  run =>
    requested('order by text, deep', { order_by: 'name', limit: '20', offset: String(6000 + run) }, () => [
      `SELECT * ${FROM} ORDER BY name, position LIMIT 20 OFFSET ${6000 + run}`,
    ])([`SELECT ?x ?t { ?x :name ?t } ORDER BY ?t LIMIT 20 OFFSET ${6000 + run}`]),
  run => {
    const least = 20_000 + run * 211
    return requested(
      'filter, order by text, count',
      { where: `population > ${least}`, order_by: 'name', limit: '20' },
      () => counted(`population > ${least}`, 'name, position', 20),
    )(countedSparql(`?x :population ?p ; :name ?t FILTER(?p > ${least})`, '?t', 20))
  },
  (run, { words }) => {
    const part = pick(words, 7 * run).slice(1, 4)
    return requested('part of a text', { where: `name like "*${part}*"`, limit: '20' }, language =>
      counted(`name ${language === 'duckdb' ? 'ILIKE' : 'LIKE'} '%${part}%'`, 'position', 20),
    )(countedSparql(`?x :name ?t FILTER(REGEX(?t, "${part}", "i"))`, null, 20))
  },
  run => {
    const least = 500 + run
    return requested(
      'sum, count, maximum by country',
      {
        select: 'sum(population) as s, count(*) as n, max(population) as m',
        where: `population > ${least}`,
        group_by: 'country_code as k',
        limit: '1000',
      },
      () => [
        `SELECT country_code, sum(population), count(*), max(population) ${FROM} WHERE population > ${least}
         GROUP BY country_code ORDER BY country_code`,
      ],
    )([
      `SELECT ?k (SUM(?p) AS ?s) (COUNT(*) AS ?n) (MAX(?p) AS ?m)
       { ?x :country_code ?k ; :population ?p FILTER(?p > ${least}) } GROUP BY ?k`,
    ])
  },
  run => {
    const least = 300 + run
    return requested(
      'count by two keys',
      {
        select: 'count(*) as n',
        where: `population > ${least}`,
        group_by: 'country_code as k, feature_code as j',
        limit: '5000',
      },
      () => [
        `SELECT country_code, feature_code, count(*) ${FROM} WHERE population > ${least}
         GROUP BY country_code, feature_code ORDER BY country_code, feature_code`,
      ],
    )([
      `SELECT ?k ?j (COUNT(*) AS ?n) { ?x :country_code ?k ; :feature_code ?j ; :population ?p FILTER(?p > ${least}) }
       GROUP BY ?k ?j`,
    ])
  },
  (run, { points }) => {
    const { lon, lat } = pick(points, 11 * run)
    const [south, west, north, east] = [lat - 1, lon - 1.5, lat + 1, lon + 1.5]
    const box = `POLYGON((${west} ${south}, ${east} ${south}, ${east} ${north}, ${west} ${north}, ${west} ${south}))`
    return requested(
      'bounding box',
      { where: `in_bbox(coordinates, ${south}, ${west}, ${north}, ${east})`, limit: '20' },
      () => counted(`lat BETWEEN ${south} AND ${north} AND lon BETWEEN ${west} AND ${east}`, 'position', 20),
    )(countedSparql(`?x :coordinates ?c FILTER(geof:sfIntersects(?c, "${box}"^^geo:wktLiteral))`, null, 20))
  },
  (run, { points }) => {
    const { lon, lat } = pick(points, 13 * run)
    return requested(
      'circle',
      { where: `within_distance(coordinates, geom'POINT(${lon} ${lat})', ${60 + (run % 9)}km)`, limit: '20' },
      () => counted(`${haversine(lon, lat)} <= ${60 + (run % 9)}000`, 'position', 20),
    )(
      countedSparql(
        `?x :coordinates ?c FILTER(geof:distance(?c, "POINT(${lon} ${lat})"^^geo:wktLiteral, uom:metre) <= ${60 + (run % 9)}000)`,
        null,
        20,
      ),
    )
  },
  (run, { countries }) => {
    const some = [1, 5, 9, 13].map(step => pick(countries, run + step))
    const [no, least] = [pick(countries, run + 3), 300_000 + 17 * run]
    const inList = some.map(each => `'${each}'`).join(', ')
    return requested(
      'or, not, in',
      {
        where: `(country_code in (${inList.replaceAll("'", '"')}) or population > ${least}) and not country_code = "${no}"`,
        limit: '20',
      },
      () =>
        counted(
          `(country_code IN (${inList}) OR population > ${least}) AND NOT country_code = '${no}'`,
          'position',
          20,
        ),
    )(
      countedSparql(
        `?x :country_code ?k ; :population ?p
         FILTER((?k IN (${inList.replaceAll("'", '"')}) || ?p > ${least}) && ?k != "${no}")`,
        null,
        20,
      ),
    )
  },
  (run, { points }) => {
    const { lon, lat } = pick(points, 17 * run)
    const corners = [
      [-2, -1],
      [0.5, -1.5],
      [2, 0],
      [1, 1.2],
      [-1, 1],
      [-2, -1],
    ].map(([x, y]) => `${lon + (x as number)} ${lat + (y as number)}`)
    const shape = `POLYGON((${corners.join(', ')}))`
    return requested('polygon', { where: `within(coordinates, geom'${shape}')`, limit: '20' }, () => [])(
      countedSparql(`?x :coordinates ?c FILTER(geof:sfWithin(?c, "${shape}"^^geo:wktLiteral))`, null, 20),
    )
  },
  (run, { words }) => {
    const word = pick(words, run)
    return requested('full text, a word', { where: `"${word}"`, limit: '20' }, language => {
      const like = language === 'duckdb' ? 'ILIKE' : 'LIKE'
      return counted(`name ${like} '%${word}%' OR ${names(language)} ${like} '%${word}%'`, 'position', 20)
    })(
      countedSparql(
        `{ ?x :name ?t FILTER(REGEX(?t, "${word}", "i")) } UNION { ?x :alternate_names ?t FILTER(REGEX(?t, "${word}", "i")) }`,
        null,
        20,
      ),
    )
  },
  (run, { words }) => {
    const [start, least] = [pick(words, 3 * run).slice(0, 3), 100 + run]
    return requested(
      'full text, a beginning, and a number',
      { where: `"${start}*" and population > ${least}`, limit: '20' },
      language => {
        const like = language === 'duckdb' ? 'ILIKE' : 'LIKE'
        const part = (name: string) => `${name} ${like} '${start}%' OR ${name} ${like} '% ${start}%'`
        return counted(
          `population > ${least} AND (${part('name')} OR ${part(names(language))})`,
          'position',
          20,
        )
      },
    )(
      countedSparql(
        `?x :name ?t ; :population ?p FILTER(?p > ${least} && REGEX(?t, "(^| )${start}", "i"))`,
        null,
        20,
      ),
    )
  },
  run => {
    const least = 1500 + 13 * run
    return requested(
      'facets of three fields',
      { facet: ['country_code', 'feature_code', 'admin1_code'], where: `population > ${least}` },
      () =>
        ['country_code', 'feature_code', 'admin1_code'].map(
          name =>
            `SELECT ${name}, count(*) ${FROM} WHERE population > ${least} GROUP BY 1 ORDER BY 2 DESC, 1`,
        ),
      'facets',
    )(
      ['country_code', 'feature_code', 'admin1_code'].map(
        name =>
          `SELECT ?k (COUNT(*) AS ?n) { ?x :population ?p ; :${name} ?k FILTER(?p > ${least}) } GROUP BY ?k`,
      ),
    )
  },
  run => {
    const least = 1200 + 7 * run
    return requested(
      'median and distinct by country',
      {
        select: 'median(population) as m, count(distinct admin1_code) as d',
        where: `population > ${least}`,
        group_by: 'country_code as k',
        limit: '1000',
      },
      language =>
        language === 'sqlite'
          ? []
          : [
              `SELECT country_code, median(population), count(DISTINCT admin1_code) ${FROM} WHERE population > ${least}
               GROUP BY country_code ORDER BY country_code`,
            ],
    )([
      `SELECT ?k (COUNT(DISTINCT ?d) AS ?n) (GROUP_CONCAT(STR(?p)) AS ?all)
       { ?x :country_code ?k ; :admin1_code ?d ; :population ?p FILTER(?p > ${least}) } GROUP BY ?k`,
    ])
  },
  run => {
    const max = 30_000 + 101 * run
    return requested(
      'computed column and order, deep',
      {
        select: 'name, population * 2 as twice, length(name) as letters',
        where: `population < ${max}`,
        order_by: 'population desc, name',
        limit: '20',
        offset: String(5000 + run),
      },
      () => [
        `SELECT count(*) ${FROM} WHERE population < ${max}`,
        `SELECT name, population * 2, length(name) ${FROM} WHERE population < ${max}
         ORDER BY population DESC, name, position LIMIT 20 OFFSET ${5000 + run}`,
      ],
    )([
      `SELECT (COUNT(*) AS ?n) { ?x :population ?p FILTER(?p < ${max}) }`,
      `SELECT ?t (?p * 2 AS ?twice) (STRLEN(?t) AS ?letters) { ?x :name ?t ; :population ?p FILTER(?p < ${max}) }
       ORDER BY DESC(?p) ?t LIMIT 20 OFFSET ${5000 + run}`,
    ])
  },
]

/** Questions about dates, of records that have some: asked beside the sixteen. */
export const DATE_QUESTIONS: readonly QuestionMaker[] = [
  run => {
    const least = 400 + run
    return requested(
      'by year and month',
      {
        select: 'count(*) as n, avg(score) as a',
        where: `population > ${least}`,
        group_by: 'year(founded) as y, month(founded) as m',
        limit: '5000',
      },
      language => {
        const part = (format: string) =>
          language === 'duckdb'
            ? `${format === '%Y' ? 'year' : 'month'}(founded)`
            : `CAST(strftime('${format}', founded) AS INTEGER)`
        return [
          `SELECT ${part('%Y')}, ${part('%m')}, count(*), avg(score) ${FROM} WHERE population > ${least} GROUP BY 1, 2
           ORDER BY 1, 2`,
        ]
      },
    )([
      `SELECT ?y ?m (COUNT(*) AS ?n) (AVG(?s) AS ?a) { ?x :founded ?d ; :score ?s ; :population ?p FILTER(?p > ${least}) }
       GROUP BY (YEAR(?d) AS ?y) (MONTH(?d) AS ?m)`,
    ])
  },
  run => {
    const [from, to] = [`19${10 + (run % 80)}-03-0${1 + (run % 9)}`, `19${12 + (run % 80)}-08-01`]
    return requested(
      'range of dates, ordered by a number',
      {
        where: `founded >= date'${from}' and founded < date'${to}'`,
        order_by: 'score desc',
        limit: '20',
      },
      () => counted(`founded >= '${from}' AND founded < '${to}'`, 'score DESC, position', 20),
    )(null)
  },
]

/** `asked(name, parameters, statements)(sparql)`. */
function requested(
  name: string,
  odsql: Question['odsql'],
  sql: Question['sql'],
  path: Question['path'] = 'records',
): (sparql: Question['sparql']) => Question {
  return sparql => ({ name, path, odsql, sql, sparql })
}

function counted(where: string, order: string, limit: number): readonly string[] {
  return [
    `SELECT count(*) ${FROM} WHERE ${where}`,
    `SELECT * ${FROM} WHERE ${where} ORDER BY ${order} LIMIT ${limit}`,
  ]
}

function countedSparql(pattern: string, order: string | null, limit: number): readonly string[] {
  return [
    `SELECT (COUNT(*) AS ?n) { ${pattern} }`,
    `SELECT * { ${pattern} . ${ALL} } ${order === null ? '' : `ORDER BY ${order}`} LIMIT ${limit}`,
  ]
}

/** The alternate names of a place as one text: DuckDB has a list of them. */
function names(language: Sql): string {
  return language === 'duckdb' ? "array_to_string(alternate_names, ',')" : 'alternate_names'
}

function haversine(lon: number, lat: number): string {
  const squared = (angle: string) => `(sin(${angle} / 2) * sin(${angle} / 2))`
  const [north, east] = [squared(`radians(lat - (${lat}))`), squared(`radians(lon - (${lon}))`)]
  return `2 * 6371008.8 * asin(sqrt(${north} + cos(radians(lat)) * cos(radians(${lat})) * ${east}))`
}

function pick<Item>(of: readonly Item[], at: number): Item {
  return of[at % of.length] as Item
}
