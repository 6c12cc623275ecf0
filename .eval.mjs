// ../../../tmp/sp/eval.mts
import { readFileSync } from "node:fs";

// test/bench/questions/questions.ts
var FROM = "FROM places";
var ALL = "?x :geonameid ?id";
var QUESTIONS = [
  (run) => {
    const least = 1e3 + run * 97;
    return asked("count over a number", { where: `population > ${least}`, limit: "0" }, () => [
      `SELECT count(*) ${FROM} WHERE population > ${least}`
    ])([`SELECT (COUNT(*) AS ?n) { ?x :population ?p FILTER(?p > ${least}) }`]);
  },
  (run, { countries }) => {
    const [country, least] = [pick(countries, run), 2e3 + run * 31];
    const where = `country_code = '${country}' AND population > ${least}`;
    const pattern = `?x :country_code "${country}" ; :population ?p FILTER(?p > ${least})`;
    return asked(
      "two conditions, ordered, first 10, count",
      { where: `country_code = "${country}" and population > ${least}`, order_by: "population desc", limit: "10" },
      () => counted(where, "population DESC", 10)
    )(countedSparql(pattern, "DESC(?p)", 10));
  },
  (run) => asked("order by text, deep", { order_by: "name", limit: "20", offset: String(6e3 + run) }, () => [
    `SELECT * ${FROM} ORDER BY name, position LIMIT 20 OFFSET ${6e3 + run}`
  ])([`SELECT ?x ?t { ?x :name ?t } ORDER BY ?t LIMIT 20 OFFSET ${6e3 + run}`]),
  (run) => {
    const least = 2e4 + run * 211;
    return asked(
      "filter, order by text, count",
      { where: `population > ${least}`, order_by: "name", limit: "20" },
      () => counted(`population > ${least}`, "name, position", 20)
    )(countedSparql(`?x :population ?p ; :name ?t FILTER(?p > ${least})`, "?t", 20));
  },
  (run, { words }) => {
    const part = pick(words, 7 * run).slice(1, 4);
    return asked(
      "part of a text",
      { where: `name like "*${part}*"`, limit: "20" },
      (language) => counted(`name ${language === "duckdb" ? "ILIKE" : "LIKE"} '%${part}%'`, "position", 20)
    )(countedSparql(`?x :name ?t FILTER(REGEX(?t, "${part}", "i"))`, null, 20));
  },
  (run) => {
    const least = 500 + run;
    return asked(
      "sum, count, maximum by country",
      {
        select: "sum(population) as s, count(*) as n, max(population) as m",
        where: `population > ${least}`,
        group_by: "country_code as k",
        limit: "1000"
      },
      () => [
        `SELECT country_code, sum(population), count(*), max(population) ${FROM} WHERE population > ${least}
         GROUP BY country_code ORDER BY country_code`
      ]
    )([
      `SELECT ?k (SUM(?p) AS ?s) (COUNT(*) AS ?n) (MAX(?p) AS ?m)
       { ?x :country_code ?k ; :population ?p FILTER(?p > ${least}) } GROUP BY ?k`
    ]);
  },
  (run) => {
    const least = 300 + run;
    return asked(
      "count by two keys",
      {
        select: "count(*) as n",
        where: `population > ${least}`,
        group_by: "country_code as k, feature_code as j",
        limit: "5000"
      },
      () => [
        `SELECT country_code, feature_code, count(*) ${FROM} WHERE population > ${least}
         GROUP BY country_code, feature_code ORDER BY country_code, feature_code`
      ]
    )([
      `SELECT ?k ?j (COUNT(*) AS ?n) { ?x :country_code ?k ; :feature_code ?j ; :population ?p FILTER(?p > ${least}) }
       GROUP BY ?k ?j`
    ]);
  },
  (run, { points }) => {
    const { lon, lat } = pick(points, 11 * run);
    const [south, west, north, east] = [lat - 1, lon - 1.5, lat + 1, lon + 1.5];
    const box = `POLYGON((${west} ${south}, ${east} ${south}, ${east} ${north}, ${west} ${north}, ${west} ${south}))`;
    return asked(
      "bounding box",
      { where: `in_bbox(coordinates, ${south}, ${west}, ${north}, ${east})`, limit: "20" },
      () => counted(`lat BETWEEN ${south} AND ${north} AND lon BETWEEN ${west} AND ${east}`, "position", 20)
    )(countedSparql(`?x :coordinates ?c FILTER(geof:sfIntersects(?c, "${box}"^^geo:wktLiteral))`, null, 20));
  },
  (run, { points }) => {
    const { lon, lat } = pick(points, 13 * run);
    return asked(
      "circle",
      { where: `within_distance(coordinates, geom'POINT(${lon} ${lat})', ${60 + run % 9}km)`, limit: "20" },
      () => counted(`${haversine(lon, lat)} <= ${60 + run % 9}000`, "position", 20)
    )(
      countedSparql(
        `?x :coordinates ?c FILTER(geof:distance(?c, "POINT(${lon} ${lat})"^^geo:wktLiteral, uom:metre) <= ${60 + run % 9}000)`,
        null,
        20
      )
    );
  },
  (run, { countries }) => {
    const some = [1, 5, 9, 13].map((step) => pick(countries, run + step));
    const [no, least] = [pick(countries, run + 3), 3e5 + 17 * run];
    const inList = some.map((each) => `'${each}'`).join(", ");
    return asked(
      "or, not, in",
      {
        where: `(country_code in (${inList.replaceAll("'", '"')}) or population > ${least}) and not country_code = "${no}"`,
        limit: "20"
      },
      () => counted(`(country_code IN (${inList}) OR population > ${least}) AND NOT country_code = '${no}'`, "position", 20)
    )(
      countedSparql(
        `?x :country_code ?k ; :population ?p
         FILTER((?k IN (${inList.replaceAll("'", '"')}) || ?p > ${least}) && ?k != "${no}")`,
        null,
        20
      )
    );
  },
  (run, { points }) => {
    const { lon, lat } = pick(points, 17 * run);
    const corners = [
      [-2, -1],
      [0.5, -1.5],
      [2, 0],
      [1, 1.2],
      [-1, 1],
      [-2, -1]
    ].map(([x, y]) => `${lon + x} ${lat + y}`);
    const shape = `POLYGON((${corners.join(", ")}))`;
    return asked("polygon", { where: `within(coordinates, geom'${shape}')`, limit: "20" }, () => [])(
      countedSparql(`?x :coordinates ?c FILTER(geof:sfWithin(?c, "${shape}"^^geo:wktLiteral))`, null, 20)
    );
  },
  (run, { words }) => {
    const word = pick(words, run);
    return asked("full text, a word", { where: `"${word}"`, limit: "20" }, (language) => {
      const like = language === "duckdb" ? "ILIKE" : "LIKE";
      return counted(`name ${like} '%${word}%' OR alternate_names ${like} '%${word}%'`, "position", 20);
    })(
      countedSparql(
        `{ ?x :name ?t FILTER(REGEX(?t, "${word}", "i")) } UNION { ?x :alternate_names ?t FILTER(REGEX(?t, "${word}", "i")) }`,
        null,
        20
      )
    );
  },
  (run, { words }) => {
    const [start, least] = [pick(words, 3 * run).slice(0, 3), 100 + run];
    return asked(
      "full text, a beginning, and a number",
      { where: `"${start}*" and population > ${least}`, limit: "20" },
      (language) => {
        const like = language === "duckdb" ? "ILIKE" : "LIKE";
        const part = (name) => `${name} ${like} '${start}%' OR ${name} ${like} '% ${start}%'`;
        return counted(`population > ${least} AND (${part("name")} OR ${part("alternate_names")})`, "position", 20);
      }
    )(
      countedSparql(
        `?x :name ?t ; :population ?p FILTER(?p > ${least} && REGEX(?t, "(^| )${start}", "i"))`,
        null,
        20
      )
    );
  },
  (run) => {
    const least = 1500 + 13 * run;
    return asked(
      "facets of three fields",
      { facet: ["country_code", "feature_code", "admin1_code"], where: `population > ${least}` },
      () => ["country_code", "feature_code", "admin1_code"].map(
        (name) => `SELECT ${name}, count(*) ${FROM} WHERE population > ${least} GROUP BY 1 ORDER BY 2 DESC, 1`
      ),
      "facets"
    )(
      ["country_code", "feature_code", "admin1_code"].map(
        (name) => `SELECT ?k (COUNT(*) AS ?n) { ?x :population ?p ; :${name} ?k FILTER(?p > ${least}) } GROUP BY ?k`
      )
    );
  },
  (run) => {
    const least = 1200 + 7 * run;
    return asked(
      "median and distinct by country",
      {
        select: "median(population) as m, count(distinct admin1_code) as d",
        where: `population > ${least}`,
        group_by: "country_code as k",
        limit: "1000"
      },
      (language) => language === "sqlite" ? [] : [
        `SELECT country_code, median(population), count(DISTINCT admin1_code) ${FROM} WHERE population > ${least}
               GROUP BY country_code ORDER BY country_code`
      ]
    )([
      `SELECT ?k (COUNT(DISTINCT ?d) AS ?n) (GROUP_CONCAT(STR(?p)) AS ?all)
       { ?x :country_code ?k ; :admin1_code ?d ; :population ?p FILTER(?p > ${least}) } GROUP BY ?k`
    ]);
  },
  (run) => {
    const most = 3e4 + 101 * run;
    return asked(
      "computed column and order, deep",
      {
        select: "name, population * 2 as twice, length(name) as letters",
        where: `population < ${most}`,
        order_by: "population desc, name",
        limit: "20",
        offset: String(5e3 + run)
      },
      () => [
        `SELECT count(*) ${FROM} WHERE population < ${most}`,
        `SELECT name, population * 2, length(name) ${FROM} WHERE population < ${most}
         ORDER BY population DESC, name, position LIMIT 20 OFFSET ${5e3 + run}`
      ]
    )([
      `SELECT (COUNT(*) AS ?n) { ?x :population ?p FILTER(?p < ${most}) }`,
      `SELECT ?t (?p * 2 AS ?twice) (STRLEN(?t) AS ?letters) { ?x :name ?t ; :population ?p FILTER(?p < ${most}) }
       ORDER BY DESC(?p) ?t LIMIT 20 OFFSET ${5e3 + run}`
    ]);
  }
];
var DATE_QUESTIONS = [
  (run) => {
    const least = 400 + run;
    return asked(
      "by year and month",
      {
        select: "count(*) as n, avg(score) as a",
        where: `population > ${least}`,
        group_by: "year(founded) as y, month(founded) as m",
        limit: "5000"
      },
      (language) => {
        const part = (format) => language === "duckdb" ? `${format === "%Y" ? "year" : "month"}(founded)` : `CAST(strftime('${format}', founded) AS INTEGER)`;
        return [
          `SELECT ${part("%Y")}, ${part("%m")}, count(*), avg(score) ${FROM} WHERE population > ${least} GROUP BY 1, 2
           ORDER BY 1, 2`
        ];
      }
    )([
      `SELECT ?y ?m (COUNT(*) AS ?n) (AVG(?s) AS ?a) { ?x :founded ?d ; :score ?s ; :population ?p FILTER(?p > ${least}) }
       GROUP BY (YEAR(?d) AS ?y) (MONTH(?d) AS ?m)`
    ]);
  },
  (run) => {
    const [from, to] = [`19${10 + run % 80}-03-0${1 + run % 9}`, `19${12 + run % 80}-08-01`];
    return asked(
      "range of dates, ordered by a number",
      {
        where: `founded >= date'${from}' and founded < date'${to}'`,
        order_by: "score desc",
        limit: "20"
      },
      () => counted(`founded >= '${from}' AND founded < '${to}'`, "score DESC, position", 20)
    )(null);
  }
];
function asked(name, odsql, sql, path = "records") {
  return (sparql) => ({ name, path, odsql, sql, sparql });
}
function counted(where, order, limit) {
  return [
    `SELECT count(*) ${FROM} WHERE ${where}`,
    `SELECT * ${FROM} WHERE ${where} ORDER BY ${order} LIMIT ${limit}`
  ];
}
function countedSparql(pattern, order, limit) {
  return [
    `SELECT (COUNT(*) AS ?n) { ${pattern} }`,
    `SELECT * { ${pattern} . ${ALL} } ${order === null ? "" : `ORDER BY ${order}`} LIMIT ${limit}`
  ];
}
function haversine(lon, lat) {
  const squared = (angle) => `(sin(${angle} / 2) * sin(${angle} / 2))`;
  const [north, east] = [squared(`radians(lat - (${lat}))`), squared(`radians(lon - (${lon}))`)];
  return `2 * 6371008.8 * asin(sqrt(${north} + cos(radians(lat)) * cos(radians(${lat})) * ${east}))`;
}
function pick(of, at) {
  return of[at % of.length];
}

// ../../../tmp/sp/eval.mts
var D = process.env.D ?? "/work/helpers/speed/dist";
var { buildApp } = await import(`${D}/app.js`);
var { loadConfig } = await import(`${D}/config.js`);
var { planOdsql } = await import(`${D}/records/ask.js`);
var { Stopwatch } = await import(`${D}/records/stopwatch.js`);
var { compileRecords, compileCount } = await import(`${D}/query/compile/records.js`);
var { compileGroups } = await import(`${D}/query/compile/groups.js`);
var { compileFacet } = await import(`${D}/query/compile/facets.js`);
var { translateQuery } = await import(`${D}/sparql/translate.js`);
var { generate } = await import(`${D}/sparql/generate.js`);
var { graphsOfQuery } = await import(`${D}/sparql/walk.js`);
var { Evaluation } = await import(`${D}/store/columns/evaluate/evaluation.js`);
var { tableOf } = await import(`${D}/store/columns/threads/jobs.js`);
var { EXPLORE_21 } = await import(`${D}/query/dialect.js`).then((m) => ({ EXPLORE_21: Object.values(m).find((d) => d?.name === "explore-v2.1") }));
var { facetField, facetOf } = await import(`${D}/query/facets.js`);
var [portal, base, datasetId = "cities", runs = "60", only = ""] = process.argv.slice(2);
var app = await buildApp({ ...loadConfig({ portal, base }, {}), log: "error" });
await app.catalog.refresh();
var served = app.catalog.dataset(datasetId);
var { target } = served;
var names = [...[target.graphs.facts]];
var columns = await app.store.contents(target.graphs.facts, target.dataset.fields.map((f) => `${base}/ld/ontologies/${datasetId}/${f.name}`));
var sample = JSON.parse(readFileSync(`/tmp/sp/constants-${datasetId}.json`, "utf8"));
var constants = sample;
var context = { dataset: { fields: target.dataset.fields }, technical: true, timezone: "UTC", language: "en", dialect: EXPLORE_21, now: Date.now() };
var evalQuery = (query, counted2) => {
  const op = translateQuery(query);
  const graphs = [...graphsOfQuery(query)];
  const view = { defaultGraphs: [], namedGraphs: new Map(graphs.filter((g) => app.store).map((g) => [g, g === target.graphs.facts ? columns : null]).filter(([, c]) => c)) };
  return tableOf(op, new Evaluation(view, { clock: { deadline: performance.now() + 6e4 }, memory: 2e9 }, {}), counted2, () => target.graphs.facts);
};
var pc = (v, p) => [...v].sort((a, b) => a - b)[Math.min(v.length - 1, Math.floor(p * v.length))].toFixed(2).padStart(8);
for (const make of [...QUESTIONS, ...datasetId === "cities" ? [] : DATE_QUESTIONS]) {
  const name = make(0, constants).name;
  if (!name.includes(only)) continue;
  const cpus = [];
  let first = 0;
  let last;
  for (let run = 0; run < Number(runs); run++) {
    const q = make(run + 1, constants);
    const c = (k) => q.odsql[k];
    const clauses = { select: c("select"), where: c("where") ? [c("where")] : [], groupBy: c("group_by"), orderBy: c("order_by"), limit: Number(c("limit") ?? 10), offset: Number(c("offset") ?? 0) };
    const plan = planOdsql(clauses, context, new Stopwatch(() => 0));
    const t0 = performance.now();
    const u0 = process.cpuUsage();
    if (q.path === "facets") for (const f of q.odsql.facet) {
      const field = facetField(f, target.dataset.fields);
      last = evalQuery(compileFacet(facetOf(f, field, "-count"), [], { filter: plan.filter, timezone: "UTC", limit: null, offset: 0 }, target).query, false);
    }
    else if (plan.type === "groups") last = evalQuery(compileGroups(plan, target).query, true);
    else if (plan.limit === 0) last = evalQuery(compileCount(plan, target).query, false);
    else last = evalQuery(compileRecords(plan, target).query, plan.filter !== null);
    const u = process.cpuUsage(u0);
    const ms = performance.now() - t0;
    cpus.push(Math.min(ms, (u.user + u.system) / 1e3));
    if (run === 0) {
      first = ms;
      if (process.env.SHOW) console.log(generate(plan.type === "groups" ? compileGroups(plan, target).query : compileRecords(plan, target).query));
    }
  }
  console.log(name.padEnd(42), "first", first.toFixed(1).padStart(7), "p50", pc(cpus.slice(10), 0.5), "p95", pc(cpus.slice(10), 0.95), last.rows, last.total);
}
await app.close();
process.exit(0);
