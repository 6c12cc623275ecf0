import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServedDataset } from '../../catalog/served.ts'
import { isFresh } from '../../http/conditional.ts'
import { answerJson } from '../../http/json.ts'
import type { Route } from '../../http/route-config.ts'
import { memoised } from '../../model/memoised.ts'
import { consoleProgram } from '../../site/api-console-program.ts'
import { html } from '../../site/html.ts'
import type { ExploreEndpoint } from './endpoint.ts'
import { representativeDataset, type SampleRecords, takeSample } from './examples.ts'
import { apiDocument, datasetOpenApi } from './openapi.ts'

/**
 * The self-description of the API: an OpenAPI document of the whole API, one for each dataset with its fields and the
 * values of its facets, and for each a console where a user tries the calls.
 */
export function selfDescription(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const samples = new WeakMap<ServedDataset, Promise<SampleRecords>>()
  /** What examples are built from, queried once for each version of a dataset. */
  const sampleOf = (entry: ServedDataset) =>
    memoised(samples, entry, () => {
      const sample = takeSample(endpoint, entry)
      sample.catch(() => samples.delete(entry))
      return sample
    })

  for (const name of ['swagger.json', 'openapi.json']) {
    app.get<Route>(`/${name}`, async (request, reply) => {
      const visible = endpoint.visible(request)
      const { entries } = visible.current()
      const version = entries.map(entry => `${entry.dataset.id} ${entry.version}`).join('\n')
      return answer(request, reply, version, async () => {
        const telling = representativeDataset(entries)
        const sample = telling === null ? null : await sampleOf(telling)
        return apiDocument(app, endpoint, visible, sample)
      })
    })
    app.get<Route<'dataset'>>(`/catalog/datasets/:dataset/${name}`, async (request, reply) => {
      const entry = endpoint.dataset(request)
      return answer(request, reply, entry.version, async () =>
        datasetOpenApi(app, endpoint, await sampleOf(entry)),
      )
    })
  }
  app.get('/console', (_, reply) => answerConsole(reply))
  app.get<Route<'dataset'>>('/catalog/datasets/:dataset/console', (request, reply) => {
    endpoint.dataset(request)
    return answerConsole(reply)
  })

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    version: string,
    document: () => Promise<unknown>,
  ): Promise<FastifyReply> {
    if (isFresh(request, reply, `${endpoint.place.root}\n${version}`)) return reply.code(304).send()
    return answerJson(reply, await document())
  }
}

/**
 * Sends the page on which a user tries the calls of the OpenAPI document next to it. It is a single file; the policy lets
 * nothing else run, and all external content is inserted as text.
 */
function answerConsole(reply: FastifyReply): FastifyReply {
  return reply
    .headers({
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    })
    .type('text/html; charset=utf-8')
    .send(PAGE)
}

const STYLE = `:root{color-scheme:light dark;--ink:#1c2430;--soft:#566273;--line:#d5dce5;--paper:#fff;--field:#f5f7fa;
--link:#0b5ba8;--good:#136c34;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--ink:#e4e9f0;--soft:#a3afbf;--line:#38424f;--paper:#151a21;--field:#1e252e;
--link:#7db8f5;--good:#72d695;--bad:#ff9d94}}
*{box-sizing:border-box}body{font:16px/1.5 system-ui,sans-serif;margin:0;color:var(--ink);background:var(--paper)}
a{color:var(--link)}code{overflow-wrap:anywhere}header{padding:1.25rem 1.5rem .75rem;border-bottom:1px solid var(--line)}
h1{font-size:1.5rem;margin:0}header p{margin:.25rem 0;color:var(--soft);max-width:70rem}
.page{display:grid;grid-template-columns:15rem minmax(0,1fr);max-width:80rem}
nav{padding:1rem 1.5rem;border-right:1px solid var(--line)}nav h2{font-size:.85rem;color:var(--soft);margin:.75rem 0 .25rem}
nav ul,.hints{list-style:none;margin:0;padding:0}nav a{display:block;padding:.2rem .5rem;border-radius:.3rem;text-decoration:none}
nav a:hover,nav a[aria-current]{background:var(--field)}nav a[aria-current]{font-weight:600;color:var(--ink)}
main{padding:1rem 1.5rem;min-width:0}main h2{font-size:1.25rem;margin:0}main p{margin:.25rem 0 .75rem}
.row{display:grid;grid-template-columns:11rem minmax(0,1fr);padding:.5rem 0;border-top:1px solid var(--line)}
label{font-family:ui-monospace,monospace;font-size:.9rem;padding-top:.4rem}.field{position:relative}
input,select,textarea{font:.9rem ui-monospace,monospace;width:100%;padding:.4rem .5rem;color:inherit;background:var(--field);
border:1px solid var(--line);border-radius:.3rem}textarea{resize:vertical;field-sizing:content}
.says{font-size:.85rem;color:var(--soft);margin:.2rem 0 0}
button{font:inherit;color:var(--paper);background:var(--link);border:0;border-radius:.3rem;padding:.4rem 1.1rem;cursor:pointer}
.example{font:.8rem ui-monospace,monospace;color:var(--link);background:none;padding:0;text-decoration:underline;
text-align:left;overflow-wrap:anywhere}
:focus-visible{outline:2px solid var(--link);outline-offset:1px}
.hints{position:absolute;z-index:1;left:0;right:0;background:var(--paper);border:1px solid var(--line);border-radius:.3rem;
box-shadow:0 .3rem 1rem #0003;font-size:.85rem}.hints li{padding:.25rem .5rem;color:var(--soft);cursor:pointer}
.hints code{color:var(--ink)}.hints [aria-selected=true]{background:var(--field);outline:1px solid var(--link)}
.send{display:flex;gap:1rem;align-items:center;border-top:1px solid var(--line);padding-top:1rem}
.address{overflow-wrap:anywhere;font:.85rem ui-monospace,monospace;min-width:0}
.good{color:var(--good)}.bad{color:var(--bad)}summary{cursor:pointer}
pre{background:var(--field);border:1px solid var(--line);border-radius:.3rem;padding:.75rem;overflow:auto;max-height:40rem;
font:.85rem/1.45 ui-monospace,monospace}
table{border-collapse:collapse;font-size:.85rem}th,td{text-align:left;padding:.15rem 1rem .15rem 0;vertical-align:top;
overflow-wrap:anywhere}th{font-weight:500;color:var(--soft)}
@media (max-width:46rem){.page,.row{grid-template-columns:minmax(0,1fr)}nav{border-right:0;border-bottom:1px solid var(--line)}}`

/** Some TypeScript compilers wrap functions in a call of `__name` to preserve their names: here it does nothing. */
const SCRIPT = `'use strict';const __name=f=>f;(${consoleProgram})()`

const POLICY = [
  "default-src 'none'",
  `script-src ${digest(SCRIPT)}`,
  `style-src ${digest(STYLE)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

function digest(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

const PAGE = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Console</title><link rel="icon" href="data:,"><style>${{ html: STYLE }}</style></head>
<body><header><h1 id="title">Console</h1><p id="about">Reading what the API can do …</p>
<p><a id="document" href="swagger.json">OpenAPI document</a></p></header>
<noscript><p>The console needs JavaScript; the document tells the same.</p></noscript>
<div class="page"><nav id="operations" aria-label="Operations"></nav><main id="main"></main></div>
<script>${{ html: SCRIPT }}</script></body></html>
`.html
