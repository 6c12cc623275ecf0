/** The rooms and the directions of imports: the table of docs/architecture.md as rules. */
const room = names => `^src/(${names})(/|\\.ts$)`
const LAYERS = [
  'errors|config|runtime|model',
  'rdf|sparql',
  'language|query|sources|mapping|formats|store|accounts',
  'publishing|catalog|harvest',
  'http|site',
  'api|portal|telemetry',
]

const upward = LAYERS.map((names, level) => ({
  name: `layer-${level}-imports-nothing-above`,
  severity: 'error',
  from: { path: room(names) },
  to: { path: room([...LAYERS.slice(level + 1), 'app|main|cli'].join('|')) },
}))

/** Rooms of one layer that read one another do so in one direction: each reads those before it. */
const DIRECTIONS = [
  ['model', 'errors', 'runtime', 'config'],
  ['publishing', 'catalog', 'harvest'],
  ['http', 'site'],
  ['telemetry', 'api', 'portal'],
  ['app', 'main', 'cli'],
]

const backward = DIRECTIONS.flatMap(rooms =>
  rooms.slice(0, -1).map((name, index) => ({
    name: `${name}-reads-nothing-after-it`,
    severity: 'error',
    from: { path: room(name) },
    to: { path: room(rooms.slice(index + 1).join('|')) },
  })),
)

/** Folders of the evaluator: each reads those before it. */
const EVALUATOR = ['vectors', 'functions', 'expressions', 'patterns', 'groups', 'order']
const evaluator = names => `^src/store/columns/evaluate/(${names})/`

const deeper = EVALUATOR.slice(0, -1).map((name, index) => ({
  name: `${name}-of-the-evaluator-read-nothing-after-them`,
  severity: 'error',
  from: { path: evaluator(name) },
  to: { path: evaluator(EVALUATOR.slice(index + 1).join('|')) },
}))

module.exports = {
  forbidden: [
    ...upward,
    ...backward,
    ...deeper,
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'rdf-does-not-read-sparql',
      severity: 'error',
      from: { path: '^src/rdf/' },
      to: { path: '^src/sparql/' },
    },
    {
      name: 'rooms-of-layer-2-stand-alone',
      comment:
        'query alone crosses: it reads the syntax trees, vocabularies and faults of languages, and those below',
      severity: 'error',
      from: { path: '^src/(language|query|sources|mapping|formats|store|accounts)/' },
      to: {
        path: '^src/(language|query|sources|mapping|formats|store|accounts)/',
        pathNot: [
          '^src/$1/',
          '^src/language/[^/]+/(ast|vocabulary|faults)\\.ts$',
          '^src/language/[^/]+/parse\\.ts$',
          '^src/store/',
        ],
      },
    },
    {
      name: 'pipeline-parses',
      comment: 'the other files of query get syntax trees',
      severity: 'error',
      from: {
        path: '^src/(language|query|sources|mapping|formats|store|accounts)/',
        pathNot: '^src/(query/pipeline\\.ts$|language/)',
      },
      to: { path: '^src/language/[^/]+/parse\\.ts$' },
    },
    {
      name: 'execution-reads-the-store',
      comment: 'the other rooms of its layer know nothing of stores',
      severity: 'error',
      from: {
        path: '^src/(language|query|sources|mapping|formats|accounts)/',
        pathNot: '^src/query/execute/',
      },
      to: { path: '^src/store/' },
    },
    {
      name: 'api-rooms-stand-alone',
      severity: 'error',
      from: { path: '^src/api/([^/]+)/' },
      to: { path: '^src/api/', pathNot: '^src/api/$1/' },
    },
    {
      name: 'portal-leaves-api',
      severity: 'error',
      from: { path: '^src/portal/' },
      to: { path: '^src/api/' },
    },
    {
      name: 'http-reads-foundations-and-accounts',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '^src/', pathNot: ['^src/http/', '^src/accounts/', room(LAYERS[0]), room(LAYERS[1])] },
    },
    only('lezer', '@lezer/', '^src/language/'),
    only('sparql-parser', '@traqula/', '^src/sparql/'),
    only('oxigraph', 'oxigraph', '^src/store/embedded/'),
    only('n3', 'n3/', '^src/mapping/rml/'),
    only('shacl', 'rdf-validate-shacl', '^src/publishing/shapes/'),
    only(
      'sqlite',
      '(libsql|better-sqlite3)',
      '^src/accounts/sqlite\\.ts$|^src/sources/files/geopackage\\.ts$',
    ),
    only('postgresql', '(pg|@types/pg)(/|$)', '^src/accounts/postgres/'),
    only('metrics', 'prom-client', '^src/telemetry/'),
    only('archives', 'tar/', '^src/cli/backup/'),
    only('ftp', 'basic-ftp/', '^src/sources/address/ftp\\.ts$'),
    only('fastify', '@?fastify', '^src/(http|site|api|portal|app|cli)/|^src/main\\.ts$'),
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^lodestone:' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}

function only(name, module, home) {
  return {
    name: `${name}-has-one-home`,
    severity: 'error',
    from: { path: '^src/', pathNot: home },
    to: { path: `node_modules/${module}` },
  }
}
