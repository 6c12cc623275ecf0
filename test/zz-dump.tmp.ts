import { writeFileSync } from 'node:fs'
import { buildApp } from '/work/main/src/app.ts'
import { loadConfig } from '/work/main/src/config.ts'
import { publishAll } from '/work/main/src/catalog/publisher.ts'
const portal = process.argv[2] as string
const base='http://portal.example'
await publishAll({ portal, base, now: () => new Date('2026-01-02T03:04:05Z') }, null, m => { if (m.type==='failed') console.log(m.reason) })
const app = await buildApp({ ...loadConfig({ portal, base }, {}), workers: 1, log: 'silent' })
await app.catalog.refresh(); app.markReady()
for (const f of ['ttl','rdf','rss','data.json','csv']) { const r = await app.http.inject('/api/explore/v2.1/catalog/exports/'+f); writeFileSync('/tmp/shacl/catalog.'+f, r.rawPayload); console.log(f, r.statusCode, r.rawPayload.length) }
for (const e of app.catalog.current().entries) {
  console.log(e.dataset.id, e.statistics.records, e.triples)
  for (const [f,q] of [['turtle',''],['rdfxml',''],['rdfxml',''],['n3',''],['jsonld',''],['n3','?order_by='+e.dataset.fields[0]!.name]] as const) {
    const t=performance.now(); const r = await app.http.inject(`/api/explore/v2.1/catalog/datasets/${e.dataset.id}/exports/${f}${q}`)
    console.log('  ', f, q, r.statusCode, (r.rawPayload.length/1e6).toFixed(2)+' MB', (performance.now()-t).toFixed(0)+' ms')
  }
}
await app.close(); process.exit(0)
