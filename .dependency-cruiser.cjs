/** The rooms and the directions of imports: the table of docs/architecture.md as rules. */
const room = names => `^src/(${names})(/|\\.ts$)`
const LAYERS = [
  'errors|config|document|thread|model',
  'rdf|sparql',
  'language|query|sources|mapping|formats|store|accounts',
  'catalog|records',
  'http',
  'api|portal|telemetry',
]

const upward = LAYERS.map((names, level) => ({
  name: `layer-${level}-imports-nothing-above`,
  severity: 'error',
  from: { path: room(names) },
  to: { path: room([...LAYERS.slice(level + 1), 'app|main|upkeep|cli'].join('|')) },
}))

module.exports = {
  forbidden: [
    ...upward,
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
      comment: 'query reads the AST types and the table of words of language, nothing else crosses',
      severity: 'error',
      from: { path: '^src/(language|query|sources|mapping|formats|store|accounts)/' },
      to: {
        path: '^src/(language|query|sources|mapping|formats|store|accounts)/',
        pathNot: ['^src/$1/', '^src/language/[^/]+/(ast|vocabulary)\\.ts$'],
      },
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
    only(
      'sqlite',
      '(libsql|better-sqlite3)',
      '^src/accounts/sqlite\\.ts$|^src/sources/files/geopackage\\.ts$',
    ),
    only('postgresql', '(pg|@types/pg)(/|$)', '^src/accounts/postgres/'),
    only('metrics', 'prom-client', '^src/telemetry/'),
    only('archives', 'tar/', '^src/cli/backup/'),
    only('fastify', '@?fastify', '^src/(http|api|portal)/|^src/(app|main|upkeep)\\.ts$|^src/cli/'),
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
