/**
 * `node ldf.cjs PORT SIZE NAME=FILE…`: the reference server of triple pattern fragments, put together as its preset does it
 * (the preset itself looks for components in all folders above it and reads their contexts from the web).
 */
const { LinkedDataFragmentsServer, UrlData, controllers, routers, views } = require('@ldf/core')
const { N3Datasource } = require('@ldf/datasource-n3').datasources
const qpf = require('@ldf/feature-qpf')
const { DataFactory } = require('n3')

const [port, size, ...files] = process.argv.slice(2)
const urlData = new UrlData({ baseURL: `http://localhost:${port}/` })
const common = { urlData, dataFactory: DataFactory, prefixes: {} }
const datasources = Object.fromEntries(
  files.map(text => {
    const [name, file] = text.split('=')
    const source = new N3Datasource({ ...common, path: name, title: name, description: name, file })
    return [`/${name}`, source]
  }),
)
const settings = {
  ...common,
  datasources,
  views: [
    new qpf.views.quadpatternfragments.QuadPatternFragmentsRdfView(common),
    new views.notfound.NotFoundRdfView(common),
  ],
  routers: [
    new routers.DatasourceRouter(common),
    new qpf.routers.QuadPatternRouter(common),
    new routers.PageRouter({ pageSize: Number(size) }),
  ],
}
const server = new LinkedDataFragmentsServer({
  ...settings,
  response: { headers: { 'Access-Control-Allow-Origin': '*' } },
  controllers: [
    new qpf.controllers.QuadPatternFragmentsController(settings),
    new controllers.NotFoundController(settings),
  ],
})
let pending = files.length
for (const source of Object.values(datasources)) {
  source.once('error', error => {
    throw error
  })
  source.once('initialized', () => {
    pending -= 1
    if (pending === 0) server.listen(Number(port))
  })
  source.initialize()
}
